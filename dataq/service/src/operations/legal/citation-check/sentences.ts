import type { FoundCitation } from "./find-citations.ts";
import type { PlainText } from "./plain-text.ts";

/**
 * What the sentence around a citation says, without the citation and the words that lead to it. Undefined if the
 * sentence has other citations too, because its words may belong to any of them, or if it says nothing.
 */
export function sentenceAround(
  plain: PlainText,
  citations: readonly FoundCitation[],
  index: number,
): readonly Part[] | undefined {
  const { from, to } = citations[index] as FoundCitation;
  const start = edge(plain, from, -1);
  const end = edge(plain, to, 1);
  const isAlone =
    ((citations[index - 1]?.to ?? -1) <= start || index === 0) &&
    (citations[index + 1]?.from ?? Number.POSITIVE_INFINITY) >= end;
  if (!isAlone) return undefined;
  const head = plain.text.slice(start, from);
  const before = head.replace(leadIn, "");
  const after = plain.text.slice(to, end).replace(tail, "");
  const first = from - before.length;
  const parts = [
    { from: first, to: first + before.replace(leadOut, "").length },
    { from: end - after.length, to: end },
  ].filter((part) => part.to - part.from > 1);
  return parts.length === 0 ? undefined : parts;
}

/**
 * What a sentence that begins with its citation goes on to say after a semicolon: 第四十二条规定,…;…;… Empty if something
 * else is cited there.
 */
export function saidAfter(
  plain: PlainText,
  citations: readonly FoundCitation[],
  index: number,
): readonly Part[] {
  const { to } = citations[index] as FoundCitation;
  if (!leads.test(plain.text.slice(to, to + 6))) return [];
  const next = citations[index + 1]?.from ?? Number.POSITIVE_INFINITY;
  const parts: Part[] = [];
  for (let from = edge(plain, to, 1); plain.text[from] === ";"; ) {
    const end = edge(plain, from + 1, 1);
    if (end > next || end - to > longest) break;
    parts.push({ from: from + 1, to: end });
    from = end;
  }
  return parts;
}

const leads =
  /^[)]?(?:的?(?:明确)?规定)?[,:|]|^[)]?的?(?:明确)?规定|^(?![)。;」”]).{0,4}(?:要求|明确|是说|意思|确立|赋予|允许|禁止|区分)/;

/** The words of these parts. */
export function saidIn(plain: PlainText, parts: readonly Part[]): string {
  return parts.map(({ from, to }) => plain.text.slice(from, to).replaceAll("|", ",")).join(",");
}

/** A part of the plain text. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

/** The end of the sentence in one direction: a mark or a line break of the original. */
function edge(plain: PlainText, at: number, direction: 1 | -1): number {
  for (let place = at; Math.abs(place - at) < longest; place += direction) {
    const next = plain.text[direction === 1 ? place : place - 1];
    if (plain.startsLine(place) && (direction === -1 || place > at)) return place;
    // An exception belongs to its rule: …应当承担侵权责任；但是，…
    const isBeforeException = direction === 1 && next === ";" && plain.text[place + 1] === "但";
    if (next === undefined || (/[。;?!]/.test(next) && !isBeforeException)) return place;
  }
  return at + direction * longest;
}

const longest = 200;
const leadIn =
  /^(?:[一二三四五六七八九十0-9]{1,3}[、.,]|[(][一二三四五六七八九十0-9]{1,3}[)]|第[一二三四五六七八九十][,、])?(?:(?:此外|另外|其次|首先|同时|因此|所以|据此|故|但是?|而且|综上|可见|本案中?|本所认为|我们认为|本院认为),?)*/;
const leadOut =
  /[,(]?(?:(?:应当|应|可以|可|须|需)?(?:依据|根据|依照|按照|参照|适用|依|按|见|参见|参考|符合|违反了?|援引))?$/;
const tail = /^[)]?(?:的?(?:明确)?规定|之规定|所规定的?)?[,:)]*/;
