import type { Query, Question } from "../search-index.ts";
import type { BitSet } from "./bitset.ts";
import type { Postings } from "./codec.ts";
import type { OpenSegment } from "./open-segment.ts";
import { type PhraseWord, withPhrase } from "./phrase.ts";
import { dateNumber } from "./segment-builder.ts";
import { intersect, lowerBound, subtract, type Take, unite, within } from "./sets.ts";

/** What a segment has of the terms of a question. */
export interface SegmentTerms {
  readonly postings: ReadonlyMap<string, Postings>;
  /** Place blocks, of the words of phrases alone. */
  readonly places: ReadonlyMap<string, Uint8Array>;
}

/** Every term that a query names. */
export function termsOf(query: Query): string[] {
  if ("term" in query) return [query.term];
  if ("not" in query) return termsOf(query.not);
  if ("phrase" in query) return query.phrase.map(({ term }) => term);
  return partsOf(query).flatMap(termsOf);
}

/** Terms whose places must be known. */
export function phraseTermsOf(query: Query): string[] {
  if ("term" in query) return [];
  if ("not" in query) return phraseTermsOf(query.not);
  if ("phrase" in query) return query.phrase.map(({ term }) => term);
  return partsOf(query).flatMap(phraseTermsOf);
}

/** Terms that add to the rank; what a document must not have adds nothing. */
export function scoredTermsOf(query: Query): string[] {
  if ("term" in query) return query.scored ? [query.term] : [];
  if ("not" in query) return [];
  if ("phrase" in query) return termsOf(query);
  return [...new Set(partsOf(query).flatMap(scoredTermsOf))];
}

function partsOf(
  query: Extract<Query, { all: unknown } | { any: unknown } | { of: unknown }>,
): readonly Query[] {
  if ("all" in query) return query.all;
  return "any" in query ? query.any : query.of;
}

/** Ordinals of the segment's living documents that answer the question, ascending. */
export function matching(
  question: Question,
  segment: OpenSegment,
  terms: SegmentTerms,
  take: Take,
): Uint32Array {
  let set = evaluate(question.query, segment.documents, terms, take);
  const { dates } = question;
  if (dates !== undefined) {
    const from = dates.from === undefined ? 1 : dateNumber(dates.from);
    const to = dates.to === undefined ? 99_999_999 : dateNumber(dates.to);
    set = between(set, segment.dates, from, to, take);
  }
  return segment.dead === null ? set : without(set, segment.dead, take);
}

function evaluate(query: Query, documents: number, terms: SegmentTerms, take: Take): Uint32Array {
  if ("term" in query) return terms.postings.get(query.term)?.ordinals ?? nothing;
  if ("phrase" in query) return phrased(query.phrase, terms);
  if ("any" in query) {
    const sets = query.any
      .map((part) => evaluate(part, documents, terms, take))
      .filter((set) => set.length > 0);
    return sets.length === 0 ? nothing : unite(sets, documents);
  }
  if ("of" in query) {
    return unite(
      query.of.map((part) => evaluate(part, documents, terms, take)),
      documents,
      query.atLeast,
    );
  }
  if ("not" in query) return subtract(everything(documents), evaluate(query.not, documents, terms, take));
  const wanted: Members[] = [];
  for (const part of query.all) {
    if ("not" in part) continue;
    const members =
      "term" in part
        ? terms.postings.get(part.term)
        : { ordinals: evaluate(part, documents, terms, take), dense: undefined };
    if (members === undefined || members.ordinals.length === 0) return nothing;
    wanted.push(members);
  }
  wanted.sort((a, b) => a.ordinals.length - b.ordinals.length);
  let set = wanted[0]?.ordinals ?? everything(documents);
  for (const { ordinals, dense } of wanted.slice(1))
    set = dense === undefined ? intersect(set, ordinals, take) : within(set, dense, take);
  for (const part of query.all) {
    if ("not" in part) set = subtract(set, evaluate(part.not, documents, terms, take));
  }
  return set;
}

/** A set, as a block has it. */
type Members = Pick<Postings, "ordinals" | "dense">;

function phrased(phrase: Extract<Query, { phrase: unknown }>["phrase"], terms: SegmentTerms): Uint32Array {
  const words: PhraseWord[] = [];
  for (const { term, at } of phrase) {
    const postings = terms.postings.get(term);
    const places = terms.places.get(term);
    if (postings === undefined || places === undefined) return nothing;
    words.push({ at, postings, places });
  }
  words.sort((a, b) => a.postings.ordinals.length - b.postings.ordinals.length);
  const sets = words.map(({ postings }) => postings.ordinals);
  return sets.length === 0
    ? nothing
    : withPhrase(
        sets.reduce((set, next) => intersect(set, next)),
        words,
      );
}

/**
 * Okapi BM25 of the matching documents, in their order, added to the zeros of `out`. `documentsWithTerm` counts over all segments, so that the
 * rank does not depend on how documents are spread over them.
 */
export function addScores(
  matches: Uint32Array,
  terms: readonly string[],
  segment: OpenSegment,
  { postings }: SegmentTerms,
  statistics: Statistics,
  out: Float64Array,
): void {
  for (const term of terms) {
    const block = postings.get(term);
    if (block === undefined) continue;
    const withTerm = statistics.documentsWithTerm.get(term) ?? 0;
    const idf = Math.log(1 + (statistics.documents - withTerm + 0.5) / (withTerm + 0.5));
    const worth = idf * (k1 + 1);
    const { norms } = segment;
    const { ordinals, frequencies, dense } = block;
    if (dense !== undefined) {
      for (let i = 0; i < matches.length; i++) {
        const ordinal = matches[i] as number;
        // Where it is not, this adds 0.
        const frequency = dense[ordinal] as number;
        out[i] = (out[i] as number) + (worth * frequency) / (frequency + (norms[ordinal] as number));
      }
      continue;
    }
    // Where nearly every posting is a match, walking is quicker than leaping.
    const isNear = ordinals.length < 8 * matches.length;
    let at = 0;
    for (let i = 0; i < matches.length; i++) {
      const ordinal = matches[i] as number;
      if (isNear) while ((ordinals[at] as number) < ordinal) at++;
      else at = lowerBound(ordinals, ordinal, at);
      if (at >= ordinals.length) break;
      if (ordinals[at] !== ordinal) continue;
      const frequency = frequencies[at] as number;
      out[i] = (out[i] as number) + (worth * frequency) / (frequency + (norms[ordinal] as number));
    }
  }
}

/** What BM25 sets against a term's frequency, by document: longer ones must have a word more often. */
export function normsOf(lengths: Uint32Array, meanLength: number): Float32Array {
  const norms = new Float32Array(lengths.length);
  for (let i = 0; i < norms.length; i++) norms[i] = k1 * (1 - b + (b * (lengths[i] as number)) / meanLength);
  return norms;
}

export interface Statistics {
  readonly documents: number;
  readonly documentsWithTerm: ReadonlyMap<string, number>;
}

const k1 = 1.2;
const b = 0.75;
const nothing = new Uint32Array(0);

function everything(documents: number): Uint32Array {
  const set = new Uint32Array(documents);
  for (let ordinal = 0; ordinal < documents; ordinal++) set[ordinal] = ordinal;
  return set;
}

function between(set: Uint32Array, dates: Int32Array, from: number, to: number, take: Take): Uint32Array {
  const out = take(set.length);
  let length = 0;
  for (let i = 0; i < set.length; i++) {
    const ordinal = set[i] as number;
    const date = dates[ordinal] as number;
    if (date >= from && date <= to) out[length++] = ordinal;
  }
  return out.subarray(0, length);
}

function without(set: Uint32Array, { bytes }: BitSet, take: Take): Uint32Array {
  const out = take(set.length);
  let length = 0;
  for (let i = 0; i < set.length; i++) {
    const ordinal = set[i] as number;
    if (((bytes[ordinal >>> 3] as number) & (1 << (ordinal & 7))) === 0) out[length++] = ordinal;
  }
  return out.subarray(0, length);
}
