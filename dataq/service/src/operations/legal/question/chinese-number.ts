const digits: Record<string, number> = {
  零: 0,
  〇: 0,
  一: 1,
  二: 2,
  两: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
};
const units: Record<string, number> = { 十: 10, 百: 100, 千: 1000 };

/** 五百七十七, 十二, 一千二百五十四 or 577 as a number below 10,000; undefined for anything else. */
export function readNumber(text: string): number | undefined {
  if (/^[0-9]{1,4}$/.test(text)) return Number(text);
  if (text === "") return undefined;
  let total = 0;
  let pending: number | undefined;
  let lastUnit = 10_000;
  for (const character of text) {
    const digit = digits[character];
    if (digit !== undefined) {
      if (pending !== undefined && pending !== 0) return undefined;
      pending = digit;
      continue;
    }
    const unit = units[character];
    if (unit === undefined || unit >= lastUnit) return undefined;
    if (pending === undefined && unit !== 10) return undefined;
    total += (pending ?? 1) * unit;
    lastUnit = unit;
    pending = undefined;
  }
  return total + (pending ?? 0);
}

/** The number as laws write it: 577 → 五百七十七. From 1 to 9,999. */
export function writeNumber(number: number): string {
  const names = "零一二三四五六七八九";
  let out = "";
  let isGap = false;
  for (const [unit, name] of [
    [1000, "千"],
    [100, "百"],
    [10, "十"],
    [1, ""],
  ] as const) {
    const digit = Math.floor(number / unit) % 10;
    if (digit === 0) {
      isGap = out !== "";
      continue;
    }
    if (isGap) out += "零";
    isGap = false;
    out += digit === 1 && unit === 10 && out === "" ? name : `${names[digit]}${name}`;
  }
  return out;
}
