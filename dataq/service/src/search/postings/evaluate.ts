import type { Query, Question } from "../search-index.ts";
import type { Postings } from "./codec.ts";
import { dateNumber } from "./segment-builder.ts";
import { intersect, lowerBound, subtract, unite } from "./sets.ts";
import type { OpenSegment } from "./snapshots.ts";

export type TermPostings = ReadonlyMap<string, Postings>;

/** Every term that a query names. */
export function termsOf(query: Query): string[] {
  if ("term" in query) return [query.term];
  if ("not" in query) return termsOf(query.not);
  return partsOf(query).flatMap(termsOf);
}

/** Terms that add to the rank; what a document must not have adds nothing. */
export function scoredTermsOf(query: Query): string[] {
  if ("term" in query) return query.scored ? [query.term] : [];
  if ("not" in query) return [];
  return [...new Set(partsOf(query).flatMap(scoredTermsOf))];
}

function partsOf(query: Exclude<Query, { term: string } | { not: Query }>): readonly Query[] {
  if ("all" in query) return query.all;
  return "any" in query ? query.any : query.of;
}

/** Ordinals of the segment's living documents that answer the question, ascending. */
export function matching(question: Question, segment: OpenSegment, postings: TermPostings): Uint32Array {
  let set = evaluate(question.query, segment.documents, postings);
  const { dates } = question;
  if (dates !== undefined) {
    const from = dates.from === undefined ? 1 : dateNumber(dates.from);
    const to = dates.to === undefined ? 99_999_999 : dateNumber(dates.to);
    set = set.filter((ordinal) => {
      const date = segment.dates[ordinal] as number;
      return date >= from && date <= to;
    });
  }
  const { dead } = segment;
  return dead === null ? set : set.filter((ordinal) => !dead.has(ordinal));
}

function evaluate(query: Query, documents: number, postings: TermPostings): Uint32Array {
  if ("term" in query) return postings.get(query.term)?.ordinals ?? nothing;
  if ("any" in query) {
    const sets = query.any.map((part) => evaluate(part, documents, postings)).filter((set) => set.length > 0);
    return sets.length === 0 ? nothing : unite(sets, documents);
  }
  if ("of" in query) {
    return unite(
      query.of.map((part) => evaluate(part, documents, postings)),
      documents,
      query.atLeast,
    );
  }
  if ("not" in query) return subtract(everything(documents), evaluate(query.not, documents, postings));
  const wanted: Uint32Array[] = [];
  for (const part of query.all) {
    if ("not" in part) continue;
    const set = evaluate(part, documents, postings);
    if (set.length === 0) return nothing;
    wanted.push(set);
  }
  wanted.sort((a, b) => a.length - b.length);
  let set = wanted[0] ?? everything(documents);
  for (const next of wanted.slice(1)) set = intersect(set, next);
  for (const part of query.all) {
    if ("not" in part) set = subtract(set, evaluate(part.not, documents, postings));
  }
  return set;
}

/**
 * Okapi BM25 of the matching documents, in their order. `documentsWithTerm` counts over all segments, so that the
 * rank does not depend on how documents are spread over them.
 */
export function scores(
  matches: Uint32Array,
  terms: readonly string[],
  segment: OpenSegment,
  postings: TermPostings,
  statistics: Statistics,
): Float64Array {
  const out = new Float64Array(matches.length);
  for (const term of terms) {
    const block = postings.get(term);
    if (block === undefined) continue;
    const withTerm = statistics.documentsWithTerm.get(term) ?? 0;
    const idf = Math.log(1 + (statistics.documents - withTerm + 0.5) / (withTerm + 0.5));
    const { ordinals, frequencies } = block;
    let at = 0;
    for (let i = 0; i < matches.length; i++) {
      const ordinal = matches[i] as number;
      at = lowerBound(ordinals, ordinal, at);
      if (at === ordinals.length) break;
      if (ordinals[at] !== ordinal) continue;
      const frequency = frequencies[at] as number;
      const length = (segment.lengths[ordinal] as number) / statistics.meanLength;
      out[i] = (out[i] as number) + (idf * frequency * (k1 + 1)) / (frequency + k1 * (1 - b + b * length));
    }
  }
  return out;
}

export interface Statistics {
  readonly documents: number;
  readonly meanLength: number;
  readonly documentsWithTerm: ReadonlyMap<string, number>;
}

const k1 = 1.2;
const b = 0.75;
const nothing = new Uint32Array(0);

function everything(documents: number): Uint32Array {
  return Uint32Array.from({ length: documents }, (_, ordinal) => ordinal);
}
