import type { Concept, Question, Wanted } from "../search-index.ts";
import type { Statistics } from "./bm25.ts";
import { matching, type SegmentTerms } from "./evaluate.ts";
import type { OpenSegment } from "./open-segment.ts";
import type { Scratch } from "./scratch.ts";
import { countUnion, lowerBound, type Take } from "./sets.ts";
import { type Ranked, Top } from "./top.ts";
import {
  completeQuery,
  completeScore,
  enoughComplete,
  findingTerms,
  scoresOf,
  unknownConcepts,
  wantedTerms,
} from "./wanted.ts";

/** A document: its segment's position among those that are read, and its ordinal. */
export type Place = Pick<Ranked, "segment" | "ordinal">;

/** What is asked for, as plain data that threads can exchange. */
export interface RankTask {
  readonly question: Question;
  /** How many of the first documents are ranked, and from which position on they are returned. */
  readonly depth: number;
  readonly from: number;
  /** Documents of this data set rank below others of equal score. */
  readonly last: string | undefined;
  /** Documents found by meaning. */
  readonly near: readonly Place[];
}

/** A segment with the blocks that a question needs. */
export interface ReadSegment {
  readonly segment: OpenSegment;
  readonly terms: SegmentTerms;
}

export interface RankAnswer {
  readonly total: number;
  readonly complete: number;
  /** Positions of concepts that no document contains, in `wantedConcepts`. */
  readonly unknown: readonly number[];
  /** The score of the first document; 0 without any. */
  readonly best: number;
  readonly ranked: readonly Ranked[];
  /** Positions in `near` of documents without any word, and the number that `total` does not count. */
  readonly wordless: readonly number[];
  readonly uncounted: number;
}

/** Says whether the time for a question is up. */
export type IsLate = () => boolean;

/** The time for a question is up. */
export class RankLate extends Error {}

/** The terms whose blocks are read for a question. */
export function rankedTerms({ wanted }: Question): string[] {
  return wanted === undefined ? [] : [...new Set(wantedTerms(wanted))];
}

/** The concepts of a question in the order in which `RankAnswer` counts them. */
export function wantedConcepts({ wanted }: Question): readonly Concept[] {
  return wanted?.alternatives.flat() ?? [];
}

/** Finds and ranks the documents of a question. Runs in a thread, or directly if there is little to do. */
export function rank(
  { question, depth, from, last, near }: RankTask,
  segments: readonly ReadSegment[],
  scratch: Scratch,
  isLate: IsLate,
): RankAnswer {
  scratch.reset();
  const { take } = scratch;
  const inTime = () => {
    if (isLate()) throw new RankLate("The question was not ranked in time.");
  };
  const { wanted } = question;
  const statistics = statisticsOf(rankedTerms(question), segments);
  const unknown = wanted === undefined ? new Set<Concept>() : unknownConcepts(wanted, statistics);
  const wholeQuery = wanted && completeQuery(wanted, unknown);
  const whole = segments.map(({ segment, terms }) => {
    inTime();
    if (wanted !== undefined && wholeQuery === undefined) return noOrdinals;
    const query = wholeQuery === undefined ? question.query : { all: [question.query, wholeQuery] };
    return matching({ ...question, query }, segment, terms, take);
  });
  const complete = whole.reduce((sum, ordinals) => sum + ordinals.length, 0);
  const isEnough = wanted === undefined || complete >= enoughComplete;
  // The other documents rank behind the page, so it is enough to count them.
  const isPageComplete = complete >= depth;
  const finding = wanted === undefined ? [] : [...new Set(findingTerms(wanted))];
  const top = new Top(depth);
  let total = 0;
  for (const [place, { segment, terms }] of segments.entries()) {
    inTime();
    const all = whole[place] as Uint32Array;
    const isLast = segment.dataset === last;
    const offer = (ordinals: Uint32Array, scores: Float64Array) => {
      total += ordinals.length;
      top.offerAll(scores, segment.dates, place, ordinals, isLast);
    };
    if (wanted === undefined) offer(all, scratch.scores("sum", all.length));
    else if (isEnough) offer(all, scoresOf(plain(wanted), segment, terms.postings, statistics, all, scratch));
    else if (isPageComplete) {
      offer(all, scoresOf(wanted, segment, terms.postings, statistics, all, scratch));
      const may = matching(question, segment, terms, take);
      const sets = finding.flatMap((term) => terms.postings.get(term)?.ordinals ?? []);
      const { documents } = segment;
      total += countUnion(sets, documents, may.length === documents ? undefined : may) - all.length;
    } else {
      const may = matching(question, segment, terms, take);
      // If all documents count, reading the blocks in sequence is faster than looking up each document.
      const matches = may.length === segment.documents ? undefined : may;
      const scores = scoresOf(wanted, segment, terms.postings, statistics, matches, scratch);
      const { ordinals, length } = raise(may, all, scores, take);
      offer(ordinals, scores.subarray(0, length));
    }
  }
  const ranked = top.ranked();
  const looked = near.map(({ segment, ordinal }, at) => {
    const { postings } = (segments[segment] as ReadSegment).terms;
    const isWhole = hasOrdinal(whole[segment] as Uint32Array, ordinal);
    const hasWord = isWhole || finding.some((term) => hasOrdinal(postings.get(term)?.ordinals, ordinal));
    return { at, hasWord, isCounted: isEnough ? isWhole : hasWord };
  });
  return {
    total,
    complete: wanted === undefined ? total : complete,
    unknown: wantedConcepts(question).flatMap((concept, at) => (unknown.has(concept) ? [at] : [])),
    best: ranked[0]?.score ?? 0,
    ranked: ranked.slice(from),
    wordless: looked.filter(({ hasWord }) => !hasWord).map(({ at }) => at),
    uncounted: looked.filter(({ isCounted }) => !isCounted).length,
  };
}

/** For each segment a bit for each document that a question allows; undefined if it allows all. */
export function allow(
  { question }: RankTask,
  segments: readonly ReadSegment[],
  scratch: Scratch,
  isLate: IsLate,
): (Uint8Array<ArrayBuffer> | undefined)[] {
  scratch.reset();
  return segments.map(({ segment, terms }) => {
    if (isLate()) throw new RankLate("The filters of a question were not read in time.");
    const ordinals = matching(question, segment, terms, scratch.take);
    if (ordinals.length === segment.documents) return undefined;
    const allowed = new Uint8Array(Math.ceil(segment.documents / 8));
    for (const ordinal of ordinals) allowed[ordinal >> 3]! |= 1 << (ordinal & 7);
    return allowed;
  });
}

function statisticsOf(terms: readonly string[], segments: readonly ReadSegment[]): Statistics {
  return {
    documents: segments.reduce((sum, { segment }) => sum + segment.documents, 0),
    documentsWithTerm: new Map(
      terms.map((term) => [
        term,
        segments.reduce((sum, { terms }) => sum + (terms.postings.get(term)?.ordinals.length ?? 0), 0),
      ]),
    ),
  };
}

/**
 * The members of `may` that have a score; moves their scores to the front. Raises the `complete` ones among them above
 * the others.
 */
function raise(
  may: Uint32Array,
  complete: Uint32Array,
  scores: Float64Array,
  take: Take,
): { ordinals: Uint32Array; length: number } {
  const ordinals = take(may.length);
  let length = 0;
  let next = 0;
  for (let i = 0; i < may.length; i++) {
    const ordinal = may[i] as number;
    const isComplete = complete[next] === ordinal;
    if (isComplete) next++;
    const score = scores[i] as number;
    if (score === 0 && !isComplete) continue;
    ordinals[length] = ordinal;
    scores[length++] = isComplete ? score + completeScore : score;
  }
  return { ordinals: ordinals.subarray(0, length), length };
}

/** Parts of words do not affect the order of documents that have every word. */
function plain(wanted: Wanted): Wanted {
  return { ...wanted, hints: wanted.hints.filter(({ isFlat }) => isFlat) };
}

function hasOrdinal(ordinals: Uint32Array | undefined, ordinal: number): boolean {
  return ordinals !== undefined && ordinals[lowerBound(ordinals, ordinal, 0)] === ordinal;
}

const noOrdinals = new Uint32Array(0);
