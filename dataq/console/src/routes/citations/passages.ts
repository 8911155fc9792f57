import type { CitationRow } from "../playground/citation-findings.ts";

/** A citation with its place in the whole text, in UTF-16 code units. */
export type PlacedCitation = CitationRow & { readonly start_utf16: number; readonly end_utf16: number };

/** The most Unicode code points of one call. */
const longest = 20_000;
/** The most calls for one text. */
export const mostParts = 10;

export interface Part {
  readonly text: string;
  /** Where it begins in the whole text, in UTF-16 code units. */
  readonly from: number;
}

/** Cuts a long text into parts for one call each, after a paragraph or a sentence if there is one. */
export function partsOf(text: string, most = longest): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  while (from < text.length) {
    const end = endOf(text, from, most);
    const part = text.slice(from, end);
    if (part.trim() !== "") parts.push({ text: part, from });
    from = end;
  }
  return parts;
}

function endOf(text: string, from: number, most: number): number {
  let end = from;
  for (let count = 0; count < most && end < text.length; count++) {
    const code = text.codePointAt(end)!;
    end += code > 0xffff ? 2 : 1;
  }
  if (end === text.length) return end;
  const part = text.slice(from, end);
  for (const mark of ["\n", "。", "；", ". "]) {
    const at = part.lastIndexOf(mark);
    if (at >= part.length / 2) return from + at + mark.length;
  }
  return end;
}

/** A piece of the text, with the citation that it is. */
export interface Piece {
  readonly text: string;
  readonly citation: PlacedCitation | null;
}

/** The text in pieces, so that the citations can be marked in it. Citations that overlap an earlier one are not marked. */
export function piecesOf(text: string, citations: readonly PlacedCitation[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const citation of [...citations].sort((a, b) => a.start_utf16 - b.start_utf16)) {
    const { start_utf16: start, end_utf16: end } = citation;
    if (start < at || end > text.length || end <= start) continue;
    if (start > at) pieces.push({ text: text.slice(at, start), citation: null });
    pieces.push({ text: text.slice(start, end), citation });
    at = end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), citation: null });
  return pieces;
}

/** What the data has instead: a place that may be meant, or the law's own words. */
export interface Correction {
  readonly kind: "place" | "words";
  readonly text: string;
}

export function correctionsOf(row: CitationRow): readonly Correction[] {
  const found = new Map<string, Correction>();
  const add = (kind: Correction["kind"], text: string) => text !== "" && found.set(text, { kind, text });
  const place = ({ law_name, article_no }: { law_name: string; article_no: string | null }) =>
    add("place", `《${law_name}》${article_no ?? ""}`);
  if (row.nearest !== null) place(row.nearest);
  if (row.fits_article) place(row.fits_article);
  for (const { agrees, differences, found_in } of row.quotations) {
    if (agrees !== false) continue;
    if (found_in !== null) place(found_in);
    const words = differences.filter(({ kind }) => kind !== "added").map(({ text }) => text);
    if (found_in === null) add("words", asInLaw(words.join(""), row.content ?? ""));
  }
  return [...found.values()];
}

/** The same words with the law's own punctuation, which a comparison ignores. */
function asInLaw(words: string, law: string): string {
  const isWord = (character: string) => !/[\p{P}\p{Z}\s]/u.test(character);
  const places: number[] = [];
  for (let at = 0; at < law.length; at++) if (isWord(law[at]!)) places.push(at);
  const wanted = [...words].filter(isWord).join("");
  const start = places
    .map((at) => law[at])
    .join("")
    .indexOf(wanted);
  if (wanted === "" || start < 0) return words;
  return law.slice(places[start], places[start + wanted.length - 1]! + 1);
}
