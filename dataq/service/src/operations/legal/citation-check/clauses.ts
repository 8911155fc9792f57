import type { Piece } from "./compare.ts";

/** A clause in the words of laws, so that a lawyer's words for the same do not count as others. */
export interface Clause {
  /** Without marks and free words, and with one word for those that say the same. */
  readonly units: string;
  readonly pairs: ReadonlySet<string>;
  readonly text: string;
  /** The number of its sentence. */
  readonly sentence: number;
  /** Whether it is a condition: …的, …时. */
  readonly isCondition: boolean;
}

export function clausesIn(text: string): Clause[] {
  const clauses: Clause[] = [];
  let sentence = 0;
  for (const [, part = "", mark = ""] of text.matchAll(/([^,，。;；:：\n|]*)([,，。;；:：\n|]|$)/g)) {
    const units = inLawWords(part);
    if (units !== "")
      clauses.push({
        units,
        pairs: pairsOf(units),
        text: part.trim(),
        sentence,
        isCondition: ends.test(units),
      });
    if (/[。;；\n|]/.test(mark)) sentence++;
  }
  return clauses;
}

const ends = /(?:[^目]的|时|后|情况下|情形下|期间内?)$|^(?:如果?|若|倘|因(?!此|而)|由于|虽)/;

export function inLawWords(text: string): string {
  let units = text.normalize("NFKC").replaceAll(/[^\p{L}\p{N}、]/gu, "");
  for (const [words, one] of sameWords) units = units.replaceAll(words, one);
  return units.replaceAll("、", "");
}

const sameWords: readonly (readonly [RegExp, string])[] = [
  [/人民(?=法院|检察院|政府)/g, ""],
  [/用人单位/g, "单位"],
  [/员工|职工|雇员/g, "劳动者"],
  [/要求(?!其?[的,])|主张/g, "请求"],
  [/签订|签署|缔结/g, "订立"],
  [/知悉|得知|获悉|知情|明知/g, "知道"],
  [/告知/g, "通知"],
  [/期满/g, "届满"],
  [/给付|偿付/g, "支付"],
  [/交纳/g, "缴纳"],
  [/调低|降低|酌减/g, "减少"],
  [/给予/g, "予以"],
  [/两(?=[年月日个倍人名周])/g, "二"],
  [/不影响(.{2,8})的(承担|行使|适用)/g, "应当$2$1"],
  [/不影响(.{2,40}?)的权利/g, "可以$1"],
  [/或者/g, "或"],
  [/以及|及其/g, "及"],
  [/商家|卖家|商户/g, "经营者"],
  [/租客/g, "承租人"],
  [/房东/g, "出租人"],
];

/** The pairs of characters of a clause in the words of laws, without those that every rule has. */
export function pairsOf(units: string): Set<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 2 <= units.length; at++) {
    const pair = units.slice(at, at + 2);
    if (!empty.test(pair)) pairs.add(pair);
  }
  return pairs;
}

const empty = /[|的之其该应或和与并且者于在由对向就按将把均都须可得]|以[上下内]|依法|规定/;

export function shared(mine: ReadonlySet<string>, theirs: ReadonlySet<string>): number {
  let count = 0;
  for (const pair of mine) if (theirs.has(pair)) count++;
  return count;
}

/** How many of these pairs a text has, from 0 to 1. */
export function shareIn(mine: ReadonlySet<string>, theirs: ReadonlySet<string>): number {
  return mine.size === 0 ? 0 : shared(mine, theirs) / mine.size;
}

export function instead(theirs: string, mine: string): Piece[] {
  return [
    { kind: "missing" as const, text: theirs },
    { kind: "added" as const, text: mine },
  ].filter(({ text }) => text !== "");
}
