import { idfOf, type Statistics } from "../../bm25.ts";
import type { Wanted, Wording } from "../../search-index.ts";
import type { OpenSegment } from "../../snapshots/open-snapshot.ts";
import { type Lifts, leastShare, massOf, shareOf } from "../../wanted.ts";
import type { Postings } from "../blocks/codec.ts";
import type { Scratch } from "./scratch.ts";
import { addFlat, addScores, type Into } from "./term-scores.ts";

/**
 * The scores of these documents, in their order. A document without anything that is wanted scores 0. `boundsOf` must
 * allow for everything that is added here.
 */
export function scoresOf(
  wanted: Wanted,
  segment: OpenSegment,
  postings: ReadonlyMap<string, Postings>,
  statistics: Statistics,
  ordinals: Uint32Array,
  scratch: Scratch,
): Float64Array {
  const { length } = ordinals;
  const out = scratch.scores("sum", length);
  const covered = scratch.scores("covered", length);
  const add = (wording: Wording, target: Float64Array, isLargest = false) =>
    addWording(wording, segment, postings, statistics, { ordinals, out: target, isLargest }, scratch);
  const concepts = wanted.alternatives.flat();
  let mass = 0;
  for (const concept of concepts) {
    const best = scratch.scores("best", length);
    const worth = massOf(concept, statistics);
    mass += worth;
    for (const wording of concept) add(wording, best, true);
    for (let i = 0; i < length; i++) {
      const score = best[i] as number;
      if (score === 0) continue;
      out[i] = (out[i] as number) + score;
      covered[i] = (covered[i] as number) + worth;
    }
  }
  if (concepts.length > 1)
    for (let i = 0; i < length; i++) {
      const share = (covered[i] as number) / mass;
      out[i] = (out[i] as number) * (leastShare + (1 - leastShare) * share);
    }
  for (const hint of wanted.hints) add(hint, out);
  if (wanted.priors.length > 0) {
    const raised = scratch.scores("best", length);
    for (const prior of wanted.priors) add(prior, raised);
    for (let i = 0; i < length; i++)
      if ((out[i] as number) > 0) out[i] = (out[i] as number) + (raised[i] as number);
  }
  for (const term of wanted.exact) {
    const block = postings.get(term);
    if (block !== undefined) addFlat(block, lifts.exact, { ordinals, out, isLargest: false });
  }
  return out;
}

export const lifts: Lifts = { complete: 10_000, own: 10_000, exact: 100_000 };

function addWording(
  { terms, weight, isFlat }: Wording,
  segment: OpenSegment,
  postings: ReadonlyMap<string, Postings>,
  statistics: Statistics,
  into: Into,
  scratch: Scratch,
): void {
  const share = shareOf(weight, terms.length, isFlat);
  const addTerm = (term: string, to: Into) => {
    const block = postings.get(term);
    if (block === undefined) return;
    if (isFlat) addFlat(block, share, to);
    else addScores(block, share * idfOf(term, statistics), segment, to);
  };
  if (terms.length === 1) {
    addTerm(terms[0] as string, into);
    return;
  }
  const { ordinals, out } = into;
  const had = { out: scratch.scores("had", out.length), share: 1 / terms.length };
  const sum = { ordinals, out: scratch.scores("part", out.length), isLargest: false, had };
  for (const term of terms) addTerm(term, sum);
  for (let i = 0; i < out.length; i++) {
    // A partial match counts less than its share: two of three words count less than two thirds.
    const score = (sum.out[i] as number) * (had.out[i] as number);
    const before = out[i] as number;
    out[i] = into.isLargest ? Math.max(before, score) : before + score;
  }
}
