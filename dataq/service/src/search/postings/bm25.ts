import type { Postings } from "./codec.ts";
import type { OpenSegment } from "./open-segment.ts";
import { lowerBound } from "./sets.ts";

/** Counts over all segments, so that the rank does not depend on how documents are spread over them. */
export interface Statistics {
  readonly documents: number;
  readonly documentsWithTerm: ReadonlyMap<string, number>;
}

/** The inverse document frequency: high for rare terms. */
export function idfOf(term: string, { documents, documentsWithTerm }: Statistics): number {
  const withTerm = documentsWithTerm.get(term) ?? 0;
  return Math.log(1 + (documents - withTerm + 0.5) / (withTerm + 0.5));
}

/** Where scores are written, and how. */
export interface Into {
  readonly out: Float64Array;
  /**
   * If given, scores are indexed by the document's position in this list. If undefined, every document counts
   * and scores are indexed by ordinal.
   */
  readonly matches: Uint32Array | undefined;
  /** Keeps the larger score instead of the sum. */
  readonly isLargest: boolean;
  /** Counts the terms that a document has, each as `share`. */
  readonly had?: { readonly out: Float64Array; readonly share: number };
}

/** Okapi BM25 of a term, times `weight`. */
export function addScores(
  { ordinals, frequencies, dense }: Postings,
  weight: number,
  { lengths, normPerLength }: OpenSegment,
  into: Into,
): void {
  const worth = weight * (k1 + 1);
  const { matches } = into;
  if (matches === undefined) {
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i] as number;
      const frequency = frequencies[i] as number;
      put(
        into,
        ordinal,
        (worth * frequency) / (frequency + leastNorm + normPerLength * (lengths[ordinal] as number)),
      );
    }
    return;
  }
  if (dense !== undefined) {
    // The same as `put`, whose call takes longer than the score.
    const { out, isLargest, had } = into;
    for (let i = 0; i < matches.length; i++) {
      const ordinal = matches[i] as number;
      const frequency = dense[ordinal] as number;
      if (frequency === 0) continue;
      const score =
        (worth * frequency) / (frequency + leastNorm + normPerLength * (lengths[ordinal] as number));
      const before = out[i] as number;
      if (!isLargest) out[i] = before + score;
      else if (score > before) out[i] = score;
      if (had !== undefined) had.out[i] = (had.out[i] as number) + had.share;
    }
    return;
  }
  eachMatch(ordinals, matches, (i, at) => {
    const frequency = frequencies[at] as number;
    put(
      into,
      i,
      (worth * frequency) /
        (frequency + leastNorm + normPerLength * (lengths[matches[i] as number] as number)),
    );
  });
}

/** The same score for each document that has the term. */
export function addFlat({ ordinals, dense }: Postings, score: number, into: Into): void {
  const { matches } = into;
  if (matches === undefined) for (const ordinal of ordinals) put(into, ordinal, score);
  else if (dense === undefined) eachMatch(ordinals, matches, (i) => put(into, i, score));
  else for (let i = 0; i < matches.length; i++) if (dense[matches[i] as number] !== 0) put(into, i, score);
}

function put({ out, isLargest, had }: Into, at: number, score: number): void {
  const before = out[at] as number;
  if (!isLargest) out[at] = before + score;
  else if (score > before) out[at] = score;
  if (had !== undefined) had.out[at] = (had.out[at] as number) + had.share;
}

function eachMatch(
  ordinals: Uint32Array,
  matches: Uint32Array,
  visit: (place: number, at: number) => void,
): void {
  // If nearly every posting matches, reading all of them is faster than skipping.
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

/**
 * BM25's length normalisation grows with the length of a document: a longer one must contain a word more often. This is
 * what a token adds to `leastNorm`.
 */
export function normPerLengthOf(meanLength: number): number {
  return (k1 * b) / meanLength;
}

const k1 = 1.2;
const b = 0.75;
const leastNorm = k1 * (1 - b);
