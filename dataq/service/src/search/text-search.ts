import type { IndexState } from "@dataq/contract";
import type { Analyser } from "./analysis/analyser.ts";
import type { PostingIndex } from "./postings/posting-index.ts";
import type { Found, Hit, Query, Question, SearchPage } from "./search-index.ts";

/** A question of words alone. */
export function wordsOnly(text: string): TextQuestion {
  return { filters: [], alternatives: [text], phrases: [], without: [] };
}

/** A question in words, after fields and look-ups were taken out of it. */
export interface TextQuestion {
  /** Every one must hold. */
  readonly filters: readonly Query[];
  /** Alternatives (OR) of words that must all be there. One empty text: filters alone. */
  readonly alternatives: readonly string[];
  /** Words in quotes: they must stand together as written, and are never relaxed. */
  readonly phrases: readonly string[];
  /** What must not stand there. */
  readonly without: readonly string[];
  readonly dates?: Question["dates"];
  /** Exact terms that are an answer by themselves and rank above matches of words. */
  readonly exact?: readonly string[];
}

export interface TextFound {
  readonly hits: readonly Hit[];
  readonly total: number;
  readonly index: IndexState;
  /** True when not all words were found together and fewer were asked for. */
  readonly relaxed: boolean;
  /** Words to mark in the texts. */
  readonly words: readonly string[];
}

/**
 * All words; failing that, all their parts; failing that, at least half of them. The last two say `relaxed`.
 * Undefined when the corpus is empty; `no_words` when the question has nothing to search for.
 */
export async function searchText(
  index: PostingIndex,
  corpus: string,
  question: TextQuestion,
  page: SearchPage,
): Promise<TextFound | "no_words" | undefined> {
  const analyser = await index.analyser(corpus, page.snapshot);
  if (analyser === undefined) return undefined;
  const alternatives = question.alternatives.map((text) => analyser.queryTerms(text));
  const phraseOf = (text: string) => analyser.phraseTerms(text);
  const phrases = question.phrases.map(phraseOf).filter(isSomething);
  const without = question.without.map(phraseOf).filter(isSomething);
  const words = [
    ...alternatives.flat(),
    ...question.phrases.map((text) => text.normalize("NFKC").toLowerCase()),
    ...phrases.flat().map(({ term }) => term),
  ];
  const fixed: Query[] = [
    ...question.filters,
    ...phrases.map((phrase) => ({ phrase })),
    ...without.map((phrase) => ({ not: { phrase } })),
  ];
  const isAsked =
    fixed.length > 0 ||
    question.dates !== undefined ||
    (question.exact ?? []).length > 0 ||
    alternatives.some(isSomething);
  if (!isAsked) return "no_words";
  const ask = (query: Query): Promise<Found | undefined> =>
    index.search(
      corpus,
      { query: { all: [...fixed, query] }, ...(question.dates && { dates: question.dates }) },
      page,
    );
  let last: Found | undefined;
  for (const { query, isRelaxed } of attempts(alternatives, question.exact ?? [], analyser)) {
    last = await ask(query);
    if (last === undefined) return undefined;
    if (last.total > 0) return { ...last, relaxed: isRelaxed, words };
  }
  return last === undefined ? undefined : { ...last, relaxed: false, words };
}

/** One after the other: most questions need no second one, and its words are cut for nothing. */
function* attempts(
  alternatives: readonly string[][],
  exact: readonly string[],
  analyser: Analyser,
): Generator<{ query: Query; isRelaxed: boolean }> {
  const withWords = alternatives.filter(isSomething);
  // Without a word, filters alone decide; an exact term must not become "everything".
  const asked = withWords.length === 0 && exact.length === 0 ? [[]] : withWords;
  yield {
    query: anyOf([...asked.map((words) => ({ all: words.map(scored) })), ...exact.map(scored)]),
    isRelaxed: false,
  };
  const only = alternatives.length === 1 ? (alternatives[0] as string[]) : [];
  if (only.some((word) => analyser.parts(word).length > 1)) {
    const parts = [...new Set(only.flatMap((word) => analyser.parts(word)))];
    yield { query: { all: parts.map(scored) }, isRelaxed: true };
  }
  if (only.length > 1) {
    yield { query: { atLeast: Math.ceil(only.length / 2), of: only.map(scored) }, isRelaxed: true };
  }
}

function anyOf(queries: readonly Query[]): Query {
  return queries.length === 1 ? (queries[0] as Query) : { any: queries };
}

function isSomething(list: readonly unknown[]): boolean {
  return list.length > 0;
}

function scored(term: string): Query {
  return { term, scored: true };
}
