import type { Statistics } from "../../bm25.ts";
import type { Concept, Question, Wanted } from "../../search-index.ts";
import type { OpenSegment } from "../../snapshots/open-snapshot.ts";
import {
  completeQuery,
  enoughComplete,
  findingTerms,
  ownQuery,
  unknownConcepts,
  wantedTerms,
} from "../../wanted.ts";
import {
  bitsOf,
  type DocumentSet,
  hasOrdinal,
  intersection,
  noDocuments,
  ordinalsOf,
  union,
  without,
} from "../blocks/sets.ts";
import { boundsOf } from "./bounds.ts";
import { matching, type SegmentTerms } from "./evaluate.ts";
import { lifts, scoresOf } from "./scores.ts";
import type { Scratch } from "./scratch.ts";
import { type Ranked, Top } from "./top.ts";

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

export function lateAfter(limitMs: number): IsLate {
  const until = performance.now() + limitMs;
  return () => performance.now() >= until;
}

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
    if (wanted !== undefined && wholeQuery === undefined) return noDocuments;
    const query = wholeQuery === undefined ? question.query : { all: [question.query, wholeQuery] };
    return matching({ ...question, query }, segment, terms, take);
  });
  const ownWords = wanted && ownQuery(wanted, unknown, statistics);
  const complete = whole.reduce((sum, { size }) => sum + size, 0);
  const isEnough = wanted === undefined || complete >= enoughComplete;
  // The other documents rank behind the page, so it is enough to count them.
  const isPageComplete = complete >= depth;
  const finding = wanted === undefined ? [] : [...new Set(findingTerms(wanted))];
  const top = new Top(depth);
  let total = isEnough ? complete : 0;
  for (const [place, read] of segments.entries()) {
    inTime();
    const { segment, terms } = read;
    const all = whole[place] as DocumentSet;
    const isLast = segment.dataset === last;
    if (wanted === undefined) {
      if (depth > 0) top.offerAll(undefined, segment.dates, place, ordinalsOf(all, take), isLast);
      continue;
    }
    const best = new Best(isEnough ? plain(wanted) : wanted, read, statistics, scratch, top);
    const { documents } = segment;
    if (ownWords === undefined) best.offer(all, place, isLast, lifts.complete + lifts.own);
    else {
      const own = intersection([all, matching({ query: ownWords }, segment, terms, take)], take);
      best.offer(own, place, isLast, lifts.complete + lifts.own);
      best.offer(without(all, own, documents, take), place, isLast, lifts.complete);
    }
    if (isEnough) continue;
    const may = matching(question, segment, terms, take);
    const sets = finding.flatMap((term) => terms.postings.get(term) ?? []);
    const some = intersection([may, union(sets, documents, take)], take);
    const others = without(some, all, documents, take);
    total += all.size + others.size;
    if (!isPageComplete) best.offer(others, place, isLast, 0);
  }
  const ranked = top.ranked();
  const looked = near.map(({ segment, ordinal }, at) => {
    const { postings } = (segments[segment] as ReadSegment).terms;
    const isWhole = hasOrdinal(whole[segment] as DocumentSet, ordinal);
    const hasWord = isWhole || finding.some((term) => hasOrdinal(postings.get(term) ?? noDocuments, ordinal));
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
    const { documents } = segment;
    const set = matching(question, segment, terms, scratch.take);
    if (set.size === documents) return undefined;
    const bits = set.bits ?? bitsOf(set.ordinals, documents, scratch.take);
    return Uint8Array.from(new Uint8Array(bits.buffer, bits.byteOffset, Math.ceil(documents / 8)));
  });
}

function statisticsOf(terms: readonly string[], segments: readonly ReadSegment[]): Statistics {
  return {
    documents: segments.reduce((sum, { segment }) => sum + segment.documents, 0),
    documentsWithTerm: new Map(
      terms.map((term) => [
        term,
        segments.reduce((sum, { terms }) => sum + (terms.postings.get(term)?.size ?? 0), 0),
      ]),
    ),
  };
}

/** Offers the best documents of a segment. */
class Best {
  readonly #wanted: Wanted;
  readonly #read: ReadSegment;
  readonly #statistics: Statistics;
  readonly #scratch: Scratch;
  readonly #top: Top;

  constructor(wanted: Wanted, read: ReadSegment, statistics: Statistics, scratch: Scratch, top: Top) {
    this.#wanted = wanted;
    this.#read = read;
    this.#statistics = statistics;
    this.#scratch = scratch;
    this.#top = top;
  }

  /** Adds `more` to the score of each document. */
  offer(set: DocumentSet, place: number, isLast: boolean, more: number): void {
    const { segment, terms } = this.#read;
    const { take } = this.#scratch;
    const offer = (ordinals: Uint32Array) => {
      const scores = scoresOf(
        this.#wanted,
        segment,
        terms.postings,
        this.#statistics,
        ordinals,
        this.#scratch,
      );
      if (more > 0) for (let i = 0; i < scores.length; i++) scores[i] = (scores[i] as number) + more;
      this.#top.offerAll(scores, segment.dates, place, ordinals, isLast);
    };
    const { size } = this.#top;
    if (set.size === 0 || size === 0) return;
    const isWorthIt =
      set.size >= leastForBounds && set.size > 2 * size && set.size * bitsPerWord > segment.documents;
    const bounds =
      isWorthIt && boundsOf(this.#wanted, segment, terms.postings, this.#statistics, this.#scratch);
    if (!bounds) {
      offer(ordinalsOf(set, take));
      return;
    }
    let offered = Number.POSITIVE_INFINITY;
    if (this.#top.leastScore === Number.NEGATIVE_INFINITY) {
      offered = bounds.unitsOfBest(size, set, take);
      offer(bounds.between(offered, Number.POSITIVE_INFINITY, set, this.#scratch));
    }
    offer(bounds.between(bounds.unitsOf(this.#top.leastScore - more), offered, set, this.#scratch));
  }
}

/** Scoring fewer documents, or a smaller share of a segment, takes less time than the bounds of all. */
const leastForBounds = 256;
const bitsPerWord = 32;

/** Parts of words do not affect the order of documents that have every word. */
function plain(wanted: Wanted): Wanted {
  return { ...wanted, hints: wanted.hints.filter(({ isFlat }) => isFlat) };
}
