import { numbersIn } from "../../date-number.ts";
import type { Query, Question } from "../../search-index.ts";
import type { OpenSegment } from "../../snapshots/open-snapshot.ts";
import type { Postings } from "../blocks/codec.ts";
import {
  allDocuments,
  between,
  type DocumentSet,
  few,
  inAtLeast,
  intersection,
  many,
  noDocuments,
  ordinalsOf,
  type Take,
  union,
  without,
} from "../blocks/sets.ts";
import { type PhraseWord, withPhrase } from "./phrase.ts";

/** The data of a segment for the terms of a question. */
export interface SegmentTerms {
  readonly postings: ReadonlyMap<string, Postings>;
  /** Place blocks, only for words of phrases. */
  readonly places: ReadonlyMap<string, Uint8Array>;
}

/** Every term that a query names. */
export function termsOf(query: Query): string[] {
  if ("term" in query) return [query.term];
  if ("not" in query) return termsOf(query.not);
  if ("phrase" in query) return query.phrase.map(({ term }) => term);
  return partsOf(query).flatMap(termsOf);
}

/** Terms whose positions are needed. */
export function phraseTermsOf(query: Query): string[] {
  if ("term" in query) return [];
  if ("not" in query) return phraseTermsOf(query.not);
  if ("phrase" in query) return query.phrase.map(({ term }) => term);
  return partsOf(query).flatMap(phraseTermsOf);
}

function partsOf(
  query: Extract<Query, { all: unknown } | { any: unknown } | { of: unknown }>,
): readonly Query[] {
  if ("all" in query) return query.all;
  return "any" in query ? query.any : query.of;
}

/** The segment's live documents that match. */
export function matching(
  { query, dates }: Pick<Question, "query" | "dates">,
  { documents, dates: datesOf, dead }: OpenSegment,
  terms: SegmentTerms,
  take: Take,
): DocumentSet {
  let set = evaluate(query, documents, terms, take);
  if (dates === "none") set = between(set, datesOf, 0, 0, take);
  else if (dates !== undefined) {
    const [from, to] = numbersIn(dates);
    set = between(set, datesOf, from, to, take);
  }
  return dead === null || set.size === 0 ? set : without(set, many(dead.words(documents)), documents, take);
}

function evaluate(query: Query, limit: number, terms: SegmentTerms, take: Take): DocumentSet {
  const each = (parts: readonly Query[]) => parts.map((part) => evaluate(part, limit, terms, take));
  if ("term" in query) return terms.postings.get(query.term) ?? noDocuments;
  if ("phrase" in query) return phrased(query.phrase, terms, take);
  if ("any" in query) return union(each(query.any), limit, take);
  if ("of" in query) return inAtLeast(query.atLeast, each(query.of), limit, take);
  const parts = conditionsOf(query);
  const isCheap = (part: Query) => "term" in part;
  const wanted: DocumentSet[] = [];
  // Terms cost nothing to look up, and one without documents saves the rest.
  for (const part of [...parts.filter(isCheap), ...parts.filter((part) => !isCheap(part))]) {
    if ("not" in part) continue;
    const set = evaluate(part, limit, terms, take);
    if (set.size === 0) return noDocuments;
    wanted.push(set);
  }
  let set = wanted.length === 0 ? allDocuments(limit, take) : intersection(wanted, take);
  for (const part of parts)
    if ("not" in part) set = without(set, evaluate(part.not, limit, terms, take), limit, take);
  return set;
}

/** All conditions that must hold, with nested groups flattened: for any other query, itself. */
function conditionsOf(query: Query): readonly Query[] {
  return "all" in query ? query.all.flatMap(conditionsOf) : [query];
}

function phrased(
  phrase: Extract<Query, { phrase: unknown }>["phrase"],
  terms: SegmentTerms,
  take: Take,
): DocumentSet {
  const words: PhraseWord[] = [];
  for (const { term, at } of phrase) {
    const postings = terms.postings.get(term);
    const places = terms.places.get(term);
    if (postings === undefined || places === undefined) return noDocuments;
    words.push({ at, postings, places });
  }
  if (words.length === 0) return noDocuments;
  words.sort((a, b) => a.postings.size - b.postings.size);
  const candidates = intersection(
    words.map(({ postings }) => postings),
    take,
  );
  return few(withPhrase(ordinalsOf(candidates, take), words));
}
