import type { FoundCitation } from "./find-citations.ts";
import type { PlainText } from "./plain-text.ts";

/** Words beside citations that may quote an article. */
export interface FoundQuotation {
  /** The quoted words in the plain text, without quotation marks. */
  readonly from: number;
  readonly to: number;
  /** False for words without quotation marks. They count only if they are nearly those of the article. */
  readonly isMarked: boolean;
  /** The text says that it quotes: 规定：“…”. Other words in quotation marks may be just a term. */
  readonly isIntroduced: boolean;
  /**
   * Stated in other words, such as 规定，当事人一方……. Only the words of the article count as a quotation, or such in
   * which a number is changed.
   */
  readonly isIndirect?: true;
  /** The citations that they may belong to: 第五百六十三条、第五百六十六条规定：“…”. */
  readonly citations: readonly number[];
}

/** Finds the quotations beside the citations of articles. `citations` are in the order of the text. */
export function findQuotations(plain: PlainText, citations: readonly FoundCitation[]): FoundQuotation[] {
  const { text } = plain;
  const found: FoundQuotation[] = [];
  const quoting = new Set<number>();
  let before = -1;
  let previous: { readonly close: number; readonly citations: readonly number[] } | undefined;
  for (const { open, close } of quotedRanges(text)) {
    while (before + 1 < citations.length && (citations[before + 1] as FoundCitation).to <= open) before++;
    if (close - open < shortestTerm) continue;
    const range = { from: open + 1, to: close, isMarked: true };
    const last = citations[before];
    if (last !== undefined) {
      const gap = text.slice(last.to, open);
      const sincePrevious =
        previous && previous.close > last.to ? text.slice(previous.close + 1, open) : undefined;
      if (
        previous !== undefined &&
        sincePrevious !== undefined &&
        /^[,、;和及与]{0,3}$/.test(sincePrevious)
      ) {
        found.push({ ...range, isIntroduced: true, citations: previous.citations });
        previous = { close, citations: previous.citations };
        continue;
      }
      if (sincePrevious === undefined && gap.length <= longestGap && !/[。?!；]/.test(gap)) {
        const own = listEndingAt(text, citations, before);
        const isIntroduced = introduces.test(gap.replace(/[*_`#>]/g, ""));
        found.push({ ...range, isIntroduced, citations: own });
        for (const each of own) quoting.add(each);
        previous = { close, citations: own };
        if (isIntroduced) continue;
      }
    }
    const after = nextCitation(citations, before + 1, close);
    const next = citations[after];
    if (
      next !== undefined &&
      next.from - close <= longestGap &&
      followed.test(text.slice(close + 1, next.from))
    ) {
      found.push({ ...range, isIntroduced: true, citations: [after] });
      quoting.add(after);
    }
  }
  for (const [index, citation] of citations.entries()) {
    if (citation.place === null || quoting.has(index)) continue;
    // References inside the quoted words, such as 依照本法第四十七条, do not end them.
    const next = citations.slice(index + 1, index + 8).find(({ from }) => text[from] !== "本");
    const range = unmarkedAfter(plain, citation, next);
    if (range !== undefined)
      found.push({
        ...range,
        isMarked: false,
        isIntroduced: true,
        citations: listEndingAt(text, citations, index),
      });
  }
  return found;
}

const shortestTerm = 3;
const longestGap = 40;
const longestQuotation = 4_000;
const longestUnmarked = 1_500;

const introduces =
  /^(?:.{0,20}?(?:规定|明确|载明|指出|写明|写道|内容|原文|条文|全文|如下|即|称|表述|要求)(?:为|了|如下|的是|是)?[:,—]*|[:—]*)$/;
const followed = /^[。,;.]?(?:[([【]|—+|-{1,2}|[([【—]*(?:参?见|引自|出自|摘自|来源|依据|根据))[:《]?$/;
const unmarked =
  /^[*_`]*(?:【[^】]{1,30}】|\([^)]{1,30}\))?[*_`]*(?:的?(?:明确)?规定|的?内容|的?原文|的?条文)?(?:为|如下)?[*_`]*([:,]?)[*_`>]*/;

/** Pairs of quotation marks. Marks inside others count too. */
function quotedRanges(text: string): { readonly open: number; readonly close: number }[] {
  const ranges: { open: number; close: number }[] = [];
  const open: { readonly at: number; readonly close: string }[] = [];
  let straight = -1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    const close = closingMarks[character];
    if (close !== undefined) {
      if (open.length < deepest) open.push({ at, close });
      continue;
    }
    if (character === '"') {
      if (straight === -1) straight = at;
      else {
        if (at - straight <= longestQuotation) ranges.push({ open: straight, close: at });
        straight = -1;
      }
      continue;
    }
    if (!"”’」』".includes(character)) continue;
    const place = open.findLastIndex((each) => each.close === character);
    if (place === -1) continue;
    const from = (open[place] as { at: number }).at;
    open.length = place;
    if (at - from <= longestQuotation) ranges.push({ open: from, close: at });
  }
  return ranges.sort((a, b) => a.open - b.open);
}

const closingMarks: Readonly<Record<string, string>> = { "“": "”", "‘": "’", "「": "」", "『": "』" };
const deepest = 8;

/** The citations of the list that ends with this one. */
function listEndingAt(text: string, citations: readonly FoundCitation[], last: number): number[] {
  const list = [last];
  while (list.length < mostInList) {
    const first = list[0] as number;
    const before = citations[first - 1];
    const here = citations[first] as FoundCitation;
    if (before === undefined || before.place === null || here.place === null) break;
    if (!/^[、,;和与及以或者至到-]{0,3}$/.test(text.slice(before.to, here.from))) break;
    list.unshift(first - 1);
  }
  return list;
}

const mostInList = 12;

function nextCitation(citations: readonly FoundCitation[], from: number, close: number): number {
  let at = Math.max(0, from);
  while (at < citations.length && (citations[at] as FoundCitation).from <= close) at++;
  return at;
}

/** Words after 第五百七十七条规定： or at the start of a line, up to the end of the line or the next citation. */
function unmarkedAfter(
  plain: PlainText,
  citation: FoundCitation,
  next: FoundCitation | undefined,
): { readonly from: number; readonly to: number; readonly isIndirect?: true } | undefined {
  const { text } = plain;
  const after = text.slice(citation.to, citation.to + 60);
  const [written = "", mark] = unmarked.exec(after) ?? [];
  const isAtStart = startsAfterMarks(plain, citation.from);
  // 第四十条 建设单位应当申请…… is a heading with the words of the article; 第四十条要求申请…… tells them in other words.
  const isHeading = isAtStart && (written !== "" || plain.isSpaced(citation.to));
  if (mark === "" && !isAtStart) return undefined;
  const from = citation.to + written.length;
  const most = Math.min(text.length, next?.from ?? text.length, from + longestUnmarked);
  let to = from;
  // A line break after the heading still belongs to it.
  while (to < most && !(to > from && plain.startsLine(to))) to++;
  if (to - from < shortestUnmarked) return undefined;
  const isIndirect = mark === "," || (mark === "" && (!isHeading || /规定/.test(written)));
  return { from, to, ...(isIndirect && { isIndirect: true as const }) };
}

const shortestUnmarked = 12;

/** Whether there are only list marks between the start of the line and this place. */
function startsAfterMarks(plain: PlainText, at: number): boolean {
  for (let place = at; place >= Math.max(0, at - 8); place--) {
    if (plain.startsLine(place)) return true;
    if (!/[-*#>•·.、0-9()\s]/.test(plain.text[place - 1] ?? "")) return false;
  }
  return false;
}
