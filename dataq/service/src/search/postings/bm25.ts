import type { Postings } from "./codec.ts";
import type { OpenSegment } from "./open-segment.ts";
import { lowerBound } from "./sets.ts";

/** Counts over all segments, so that the rank does not depend on how documents are spread over them. */
export interface Statistics {
  readonly documents: number;
  readonly documentsWithTerm: ReadonlyMap<string, number>;
}

/** How rare a term is. */
export function idfOf(term: string, { documents, documentsWithTerm }: Statistics): number {
  const withTerm = documentsWithTerm.get(term) ?? 0;
  return Math.log(1 + (documents - withTerm + 0.5) / (withTerm + 0.5));
}

/**
 * Okapi BM25 of a term, times `weight`, added to `out`: by the place of the document in `matches`, or by its ordinal where
 * every document counts (`matches` undefined).
 */
export function addScores(
  { ordinals, frequencies, dense }: Postings,
  weight: number,
  { norms }: OpenSegment,
  matches: Uint32Array | undefined,
  out: Float64Array,
): void {
  const worth = weight * (k1 + 1);
  if (matches === undefined) {
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i] as number;
      const frequency = frequencies[i] as number;
      out[ordinal] =
        (out[ordinal] as number) + (worth * frequency) / (frequency + (norms[ordinal] as number));
    }
    return;
  }
  if (dense !== undefined) {
    for (let i = 0; i < matches.length; i++) {
      const ordinal = matches[i] as number;
      // Adds 0 where the document lacks the term.
      const frequency = dense[ordinal] as number;
      out[i] = (out[i] as number) + (worth * frequency) / (frequency + (norms[ordinal] as number));
    }
    return;
  }
  eachMatch(ordinals, matches, (i, at) => {
    const frequency = frequencies[at] as number;
    out[i] = (out[i] as number) + (worth * frequency) / (frequency + (norms[matches[i] as number] as number));
  });
}

/** Adds the same to each document that has the term. */
export function addFlat(
  { ordinals }: Postings,
  score: number,
  matches: Uint32Array | undefined,
  out: Float64Array,
): void {
  if (matches === undefined) for (const ordinal of ordinals) out[ordinal] = (out[ordinal] as number) + score;
  else
    eachMatch(ordinals, matches, (i) => {
      out[i] = (out[i] as number) + score;
    });
}

function eachMatch(
  ordinals: Uint32Array,
  matches: Uint32Array,
  visit: (place: number, at: number) => void,
): void {
  // Where nearly every posting is a match, stepping is quicker than leaping.
  const isNear = ordinals.length < 8 * matches.length;
  let at = 0;
  for (let i = 0; i < matches.length; i++) {
    const ordinal = matches[i] as number;
    if (isNear) while ((ordinals[at] as number) < ordinal) at++;
    else at = lowerBound(ordinals, ordinal, at);
    if (at >= ordinals.length) break;
    if (ordinals[at] === ordinal) visit(i, at);
  }
}

/** What BM25 sets against a term's frequency, by document: longer ones must have a word more often. */
export function normsOf(lengths: Uint32Array, meanLength: number): Float32Array {
  const norms = new Float32Array(lengths.length);
  for (let i = 0; i < norms.length; i++) norms[i] = k1 * (1 - b + (b * (lengths[i] as number)) / meanLength);
  return norms;
}

const k1 = 1.2;
const b = 0.75;
