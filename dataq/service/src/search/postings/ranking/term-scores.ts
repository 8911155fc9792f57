import { normOf, worthOf } from "../../bm25.ts";
import type { OpenSegment } from "../../snapshots/open-snapshot.ts";
import type { Postings } from "../blocks/codec.ts";
import { lowerBound } from "../blocks/sets.ts";

/** Where scores are written, and how. */
export interface Into {
  /** The documents that are scored, ascending. */
  readonly ordinals: Uint32Array;
  /** Their scores, in the same order. */
  readonly out: Float64Array;
  /** Keeps the larger score instead of the sum. */
  readonly isLargest: boolean;
  /** Counts the terms that a document has, each as `share`. */
  readonly had?: { readonly out: Float64Array; readonly share: number };
}

/** Okapi BM25 of a term, times `weight`. */
export function addScores(
  postings: Postings,
  weight: number,
  { lengths, normPerLength }: OpenSegment,
  into: Into,
): void {
  const worth = worthOf(weight);
  const { ordinals } = into;
  eachMatch(postings, ordinals, (i, frequency) => {
    const norm = normOf(lengths[ordinals[i] as number] as number, normPerLength);
    put(into, i, (worth * frequency) / (frequency + norm));
  });
}

/** The same score for each document that has the term. */
export function addFlat(postings: Postings, score: number, into: Into): void {
  eachMatch(postings, into.ordinals, (i) => put(into, i, score));
}

function put({ out, isLargest, had }: Into, at: number, score: number): void {
  const before = out[at] as number;
  out[at] = isLargest ? Math.max(before, score) : before + score;
  if (had !== undefined) had.out[at] = (had.out[at] as number) + had.share;
}

function eachMatch(
  postings: Postings,
  matches: Uint32Array,
  visit: (place: number, frequency: number) => void,
): void {
  const { ordinals, frequencies } = postings;
  if (ordinals === undefined) {
    for (let i = 0; i < matches.length; i++) {
      const frequency = frequencies[matches[i] as number] as number;
      if (frequency !== 0) visit(i, frequency);
    }
    return;
  }
  // If nearly every posting matches, reading all of them is faster than skipping.
  const isNear = ordinals.length < 8 * matches.length;
  let at = 0;
  for (let i = 0; i < matches.length; i++) {
    const ordinal = matches[i] as number;
    if (isNear) while ((ordinals[at] as number) < ordinal) at++;
    else at = lowerBound(ordinals, ordinal, at);
    if (at >= ordinals.length) break;
    if (ordinals[at] === ordinal) visit(i, frequencies[at] as number);
  }
}
