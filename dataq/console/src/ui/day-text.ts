const written = /^\s*(\d{4})\D{1,2}(\d{1,2})\D{1,2}(\d{1,2})日?(?:[\sT]+(\d{1,2})[:：](\d{2}))?\s*$/;

/**
 * The day that a text names, as YYYY-MM-DD, or, with `hasTime`, YYYY-MM-DD HH:MM; midnight if the text has no time.
 * Also 2026/1/31 and 2026年1月31日. Undefined for anything else, and for a day that no calendar has.
 */
export function asDay(text: string, hasTime: boolean): string | undefined {
  const [, year, month, date, hour, minute] = written.exec(text) ?? [];
  if (year === undefined || (hour !== undefined && !hasTime)) return undefined;
  const two = (part = "0") => part.padStart(2, "0");
  const day = `${year}-${two(month)}-${two(date)}`;
  const time = `${two(hour)}:${two(minute)}`;
  const at = new Date(`${day}T${time}Z`);
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 16) !== `${day}T${time}`) return undefined;
  return hasTime ? `${day} ${time}` : day;
}
