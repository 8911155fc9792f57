import type { Query, Question } from "../search-index.ts";
import type { BitSet } from "./bitset.ts";
import type { Postings } from "./codec.ts";
import type { OpenSegment } from "./open-segment.ts";
import { dateNumber } from "./part-builder.ts";
import { type PhraseWord, withPhrase } from "./phrase.ts";
import {
  common,
  type Intersection,
  intersect,
  type Members,
  subtract,
  type Take,
  unite,
  withAny,
} from "./sets.ts";

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

/** Ordinals of the segment's live documents that match, ascending. */
export function matching(
  question: Pick<Question, "query" | "dates">,
  segment: OpenSegment,
  terms: SegmentTerms,
  take: Take,
): Uint32Array {
  let set = evaluate(question.query, segment.documents, terms, take);
  const { dates } = question;
  if (dates === "none") set = between(set, segment.dates, 0, 0, take);
  else if (dates !== undefined) {
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
  const choices: Intersection[][] = [];
  const parts = conditionsOf(query);
  for (const part of parts) {
    if ("not" in part) continue;
    if ("any" in part) {
      const alternatives = alternativesOf(part.any, documents, terms, take);
      if (alternatives.length === 0) return nothing;
      choices.push(alternatives);
      continue;
    }
    const members =
      "term" in part
        ? terms.postings.get(part.term)
        : { ordinals: evaluate(part, documents, terms, take), dense: undefined };
    if (members === undefined || members.ordinals.length === 0) return nothing;
    wanted.push(members);
  }
  // The most selective part is read as a set; the others are then looked up only for its members.
  choices.sort((a, b) => sizeOf(a) - sizeOf(b));
  const narrowest = choices[0];
  if (narrowest !== undefined && (wanted.length === 0 || sizeOf(narrowest) < leastOf(wanted))) {
    choices.shift();
    const sets = narrowest.map((alternative) => common(alternative, take));
    wanted.push({ ordinals: unite(sets, documents), dense: undefined });
  }
  let set = wanted.length === 0 ? everything(documents) : common(wanted, take);
  for (const choice of choices) set = withAny(set, choice, documents, take);
  for (const part of parts) {
    if ("not" in part) set = subtract(set, evaluate(part.not, documents, terms, take));
  }
  return set;
}

/**
 * All conditions that must hold, with nested groups flattened. A selective condition then reduces the work for all
 * others.
 */
function conditionsOf(query: Query): readonly Query[] {
  return "all" in query ? query.all.flatMap(conditionsOf) : [query];
}

/**
 * The alternatives that a document of the segment can match. Sets of alternatives with several terms are intersected
 * later.
 */
function alternativesOf(
  parts: readonly Query[],
  documents: number,
  { postings, places }: SegmentTerms,
  take: Take,
): Intersection[] {
  const alternatives: Intersection[] = [];
  for (const part of parts) {
    const names = "all" in part && part.all.length > 0 ? part.all : [part];
    const alternative = names.every((each) => "term" in each)
      ? names.map(({ term }) => postings.get(term) ?? noMembers)
      : [{ ordinals: evaluate(part, documents, { postings, places }, take), dense: undefined }];
    if (leastOf(alternative) > 0) alternatives.push(alternative);
  }
  return alternatives;
}

const noMembers: Members = { ordinals: new Uint32Array(0), dense: undefined };

function sizeOf(choice: readonly Intersection[]): number {
  return choice.reduce((sum, alternative) => sum + leastOf(alternative), 0);
}

function leastOf(list: readonly Members[]): number {
  return list.reduce((least, { ordinals }) => Math.min(least, ordinals.length), Number.POSITIVE_INFINITY);
}

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

const nothing = new Uint32Array(0);

function everything(documents: number): Uint32Array {
  if (documents > ascending.length) ascending = Uint32Array.from({ length: 2 * documents }, (_, at) => at);
  return ascending.subarray(0, documents);
}

let ascending = new Uint32Array(0);

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
