import type { IndexState } from "@dataq/contract";
import { type Analyser, isHan } from "./analysis/analyser.ts";
import { otherForms, slipsOf } from "./analysis/english.ts";
import { simplified } from "./analysis/script.ts";
import type {
  Concept,
  Found,
  Hit,
  Query,
  Question,
  SearchIndex,
  SearchPage,
  Wanted,
  Wording,
} from "./search-index.ts";
import type { Place } from "./stored-body.ts";

/** A question of words only. */
export function wordsOnly(text: string): TextQuestion {
  return { filters: [], alternatives: [text], phrases: [], without: [] };
}

/** A question in words, after its fields and references were removed. */
export interface TextQuestion {
  /** Filters, all of which must match. */
  readonly filters: readonly Query[];
  /** Alternatives (OR) of words. One empty text means only filters. */
  readonly alternatives: readonly string[];
  /** Words in quotes: they must be adjacent as written. */
  readonly phrases: readonly string[];
  /** Words that must not occur. */
  readonly without: readonly string[];
  readonly dates?: { readonly from?: string; readonly to?: string };
  /** Words that were read as a place or a year. They are dropped if nothing matches them. */
  readonly soft?: Soft;
  /** Exact terms that are answers by themselves and rank above matches of words. */
  readonly exact?: readonly string[];
  /** The meanings of words in the question. */
  readonly meanings?: readonly Meaning[];
  /** These raise the rank of documents that contain them, but do not find documents by themselves. */
  readonly priors?: readonly Wording[];
}

export interface Soft {
  readonly places: readonly string[];
  readonly filters: readonly Query[];
  readonly years: readonly string[];
  readonly dates?: { readonly from?: string; readonly to?: string };
}

/** What a word of the question means in the texts. */
export interface Meaning {
  /**
   * The word as written in the question. If the question does not contain it in one piece, only its other
   * wordings count.
   */
  readonly word: string;
  readonly others: readonly OtherWording[];
}

/** Words of the texts, or exact terms. */
export type OtherWording =
  | { readonly text: string; readonly weight: number }
  | { readonly term: string; readonly score: number };

export interface TextFound {
  readonly hits: readonly Hit[];
  readonly total: number;
  readonly totalRelation: Found["totalRelation"];
  readonly index: IndexState;
  /** Whether the meaning of the question took part. `failed`: it should have, but the words answer alone. */
  readonly meaning: "fused" | "failed" | "none";
  /** True if no record has everything that was asked for, or none of the page has a word of the question itself. */
  readonly relaxed: boolean;
  /** The page has related words only, instead of these of the question. */
  readonly onlyRelated: readonly string[];
  /** No record has any of the words: all were found by meaning. */
  readonly isWordless: boolean;
  /** Words of the question that no record contains. */
  readonly notFound: readonly string[];
  /** English words that no record contains, and what was searched instead. */
  readonly corrected: readonly { readonly word: string; readonly instead: string }[];
  /** Records without a date, which the range excludes. */
  readonly undated: number;
  /** Words to highlight. */
  readonly words: readonly string[];
}

/**
 * Finds documents that are near in meaning among those that a question allows. Undefined if that is not possible now.
 */
export type FindNear = (
  text: string,
  question: Pick<Question, "query" | "dates">,
) => Promise<readonly Place[] | undefined>;

/**
 * Finds what contains any of the words; what contains all of them comes first. Undefined if the corpus is empty;
 * `no_words` if the question contains nothing to search for.
 */
export async function searchText(
  index: SearchIndex,
  corpus: string,
  question: TextQuestion,
  page: SearchPage,
  near?: FindNear,
): Promise<TextFound | "no_words" | undefined> {
  const analyser = await index.analyser(corpus, page.snapshot);
  if (analyser === undefined) return undefined;
  const { exact = [], soft } = question;
  const dates = question.dates ?? soft?.dates;
  const phraseOf = (text: string) => analyser.phraseTerms(text);
  const phrases = question.phrases.map(phraseOf).filter(isSomething);
  const without = question.without.map(phraseOf).filter(isSomething);
  const fixed: Query[] = [
    ...question.filters,
    ...phrases.map((phrase) => ({ phrase })),
    ...without.map((phrase) => ({ not: { phrase } })),
  ];
  const asked = read(question, analyser, phrases);
  const hasWords = asked.some(({ concepts }) => concepts.length > 0);
  const isSoft = soft !== undefined && soft.places.length + soft.years.length > 0;
  if (fixed.length === 0 && !isSoft && dates === undefined && exact.length === 0 && !hasWords)
    return "no_words";
  const wanted: Wanted | undefined =
    hasWords || exact.length > 0 ? wantedOf(asked, question, analyser) : undefined;
  let filters = [...fixed, ...(soft?.filters ?? [])];
  let range: Question["dates"] = dates;
  const ask = (asking: Wanted | undefined, limit = page.limit, places?: readonly Place[]) =>
    index.search(
      corpus,
      {
        query: { all: filters },
        ...(asking !== undefined && { wanted: asking }),
        ...(range !== undefined && { dates: range }),
      },
      { ...page, limit, ...(places && { near: places }) },
    );
  let asking = wanted;
  let found = await ask(asking);
  if (found === undefined) return undefined;
  let leftOut: readonly string[] = [];
  if (isSoft && found.total === 0) {
    for (const way of relaxations(soft, question.dates)) {
      filters = [...fixed, ...way.filters];
      range = way.range;
      const others = (await ask(asking)) as Found;
      if (others.total === 0) continue;
      found = others;
      leftOut = way.leftOut;
      break;
    }
  }
  const isLeftOut = leftOut.length > 0;
  const unknown = found.unknown;
  const corrected = await corrections(index, corpus, asked, unknown, page.snapshot);
  if (wanted !== undefined && corrected.size > 0) {
    asking = withCorrections(wanted, corrected);
    found = (await ask(asking)) as Found;
  }
  const wordless = found.total === 0;
  const text = hasWords ? question.alternatives.join(" ").trim() : "";
  const places =
    text === "" ? [] : await near?.(text, { query: { all: filters }, ...(range && { dates: range }) });
  if (places !== undefined && places.length > 0) found = (await ask(asking, page.limit, places)) as Found;
  const isUndatedPossible =
    dates !== undefined &&
    !isLeftOut &&
    [...(await index.contents(corpus, page.snapshot)).values()].some(({ hasUndated }) => hasUndated);
  range = "none";
  const undated = isUndatedPossible ? ((await ask(asking, 0))?.total ?? 0) : 0;
  const words = asked.flatMap((each) => each.words);
  const missing = await missingCharacters(index, corpus, asked, found.hits, page.snapshot);
  const onlyRelated = wordless || exact.length > 0 ? [] : missingWords(asked, found.hits);
  return {
    hits: found.hits,
    total: found.total,
    totalRelation: found.totalRelation,
    index: found.index,
    meaning: found.isFused ? "fused" : near !== undefined && places === undefined ? "failed" : "none",
    isWordless: wordless && found.total > 0,
    relaxed:
      found.total > 0 &&
      (found.complete === 0 || unknown.size > 0 || missing.length > 0 || onlyRelated.length > 0 || isLeftOut),
    onlyRelated,
    notFound: [
      ...new Set([
        ...leftOut,
        ...asked.flatMap(({ concepts }) =>
          concepts.flatMap(({ word, concept }) =>
            unknown.has(concept) && !corrected.has(concept) ? [word] : [],
          ),
        ),
        ...missing,
      ]),
    ],
    corrected: asked.flatMap(({ concepts }) =>
      concepts.flatMap(({ word, concept }) =>
        (corrected.get(concept) ?? []).slice(0, 1).map((instead) => ({ word, instead })),
      ),
    ),
    undated,
    words: [
      ...new Set([
        ...words,
        ...question.phrases.map((text) => text.normalize("NFKC").toLowerCase()),
        ...phrases.flat().map(({ term }) => term),
        ...[...corrected.values()].flat(),
      ]),
    ].slice(0, mostMarked),
  };
}

/** The words of the question, if no record of the page has any of them. */
function missingWords(asked: readonly Asked[], hits: readonly Hit[]): string[] {
  const concepts = asked.flatMap((each) => each.concepts);
  const own = concepts.flatMap(({ concept }) => concept.filter(({ isRelated }) => isRelated === undefined));
  const isIn = (text: { includes(term: string): boolean }) =>
    own.some(({ terms }) => terms.every((term) => text.includes(term)));
  if (own.length === 0 || hits.length === 0 || hits.some(({ body }) => isIn(body.json))) return [];
  const hasOtherSpelling = hits.some(({ body }) =>
    isIn(simplified(body.json.toString().normalize("NFKC").toLowerCase())),
  );
  return hasOtherSpelling ? [] : [...new Set(concepts.map(({ word }) => word))];
}

/**
 * Rare characters beside longer words (鱻犇羴), which are only hints: those that no record has as a word, and no record of
 * the page inside of one. Neighbours in the question are told as one word.
 */
async function missingCharacters(
  index: SearchIndex,
  corpus: string,
  asked: readonly Asked[],
  hits: readonly Hit[],
  snapshot: string | undefined,
): Promise<string[]> {
  const all = [...new Set(asked.flatMap(({ characters }) => characters))].slice(0, mostLookedUp);
  const absent = all.filter((character) => !hits.some(({ body }) => body.json.includes(character)));
  if (absent.length === 0) return [];
  const held = await index.mostFrequent(corpus, absent, absent.length, snapshot);
  const missing = new Set(absent.filter((character) => !held.includes(character)));
  if (missing.size === 0) return [];
  return asked.flatMap(({ text }) => {
    const runs: string[] = [];
    let isRun = false;
    for (const character of text) {
      if (!missing.has(character)) isRun = false;
      else if (isRun) runs[runs.length - 1] += character;
      else {
        runs.push(character);
        isRun = true;
      }
    }
    return runs;
  });
}

/**
 * What may be dropped if nothing matches the place and the year, the smallest change first. A record without a date may be of the
 * year; one with another date is not.
 */
function relaxations({ places, years, filters, dates }: Soft, asked: Question["dates"]) {
  const range = asked ?? dates;
  const undated: Question["dates"] = asked ?? (dates && "none");
  return [
    ...(years.length > 0 ? [{ filters, range: undated, leftOut: years }] : []),
    ...(places.length > 0 ? [{ filters: [], range, leftOut: places }] : []),
    { filters: [], range: undated, leftOut: [...places, ...years] },
  ];
}

/** An alternative of the question, prepared for the search. */
interface Asked {
  readonly text: string;
  readonly concepts: readonly { readonly word: string; readonly concept: Concept }[];
  /** Single characters next to longer words say too little to be required. */
  readonly characters: readonly string[];
  /** To highlight. */
  readonly words: readonly string[];
}

function read(
  { alternatives, meanings = [] }: TextQuestion,
  analyser: Analyser,
  phrases: readonly (readonly { readonly term: string }[])[],
): Asked[] {
  const quoted = phrases.map((phrase) => ({
    word: phrase.map(({ term }) => term).join(""),
    concept: [{ terms: phrase.map(({ term }) => term), weight: 1 }],
  }));
  return alternatives.map((text) => {
    const parts = split(text, meanings);
    const concepts = parts.flatMap(({ text: part, meaning }) =>
      meaning === undefined
        ? plainConcepts(part, analyser)
        : [{ word: part, concept: conceptOf(part, meaning, analyser) }],
    );
    const all = distinct(concepts);
    const hasLonger = all.some(({ word }) => !isCharacter(word));
    const own = hasLonger ? all.filter(({ word }) => !isCharacter(word)) : all;
    const characters = hasLonger ? all.map(({ word }) => word).filter(isCharacter) : [];
    const asked = own.flatMap(({ concept }) => concept[0]?.terms ?? []);
    const words = [...asked, ...own.flatMap(({ concept }) => concept.flatMap(({ terms }) => terms))].filter(
      isWord,
    );
    return { text, concepts: [...own, ...quoted], characters, words };
  });
}

/** The text in pieces: words with a meaning, and the text between them. */
function split(
  text: string,
  meanings: readonly Meaning[],
): { readonly text: string; readonly meaning?: Meaning }[] {
  const pieces: { text: string; meaning?: Meaning }[] = [];
  let plainFrom = 0;
  for (let at = 0; at < text.length; ) {
    const meaning = meanings
      .filter(({ word }) => text.startsWith(word, at))
      .sort((a, b) => b.word.length - a.word.length)[0];
    if (meaning === undefined || meaning.word === "") {
      at++;
      continue;
    }
    if (at > plainFrom) pieces.push({ text: text.slice(plainFrom, at) });
    pieces.push({ text: meaning.word, meaning });
    at += meaning.word.length;
    plainFrom = at;
  }
  if (plainFrom < text.length) pieces.push({ text: text.slice(plainFrom) });
  return pieces;
}

/** Each word by itself. */
function plainConcepts(text: string, analyser: Analyser): Asked["concepts"] {
  return analyser.queryTerms(text).map((word) => ({
    word,
    concept: [
      { terms: [word], weight: 1 },
      ...otherForms(word).map((form) => ({ terms: [form], weight: otherFormWeight })),
    ],
  }));
}

function conceptOf(word: string, { others }: Meaning, analyser: Analyser): Concept {
  const own = analyser.queryTerms(word);
  const wordings = others
    .map((other) => wordingOf(other, analyser))
    .filter(({ terms }) => isSomething(terms));
  const all: Wording[] = [...(own.length === 0 ? [] : [{ terms: own, weight: 1 }]), ...wordings];
  // If several meanings give the same wording, the first one is used. The word itself comes first.
  return all.filter(
    ({ terms }, at) => all.findIndex((other) => other.terms.join(" ") === terms.join(" ")) === at,
  );
}

function wordingOf(other: OtherWording, analyser: Analyser): Wording {
  return "term" in other
    ? { terms: [other.term], weight: other.score, isFlat: true, isRelated: true }
    : { terms: analyser.queryTerms(other.text), weight: other.weight, isRelated: true };
}

function wantedOf(asked: readonly Asked[], question: TextQuestion, analyser: Analyser): Wanted {
  const { meanings = [], exact = [], priors = [] } = question;
  const texts = asked.map(({ text }) => text);
  const known = new Set(asked.flatMap(({ concepts }) => concepts.map(({ word }) => word)));
  const pairs = texts.flatMap((text) => analyser.queryPairs(text)).filter((pair) => !known.has(pair));
  const isInText = ({ word }: Meaning) => texts.some((text) => text.includes(word));
  // An exact term raises a record in addition to its words, not instead of them.
  const also = meanings.flatMap((meaning) =>
    isInText(meaning) ? meaning.others.filter((other) => "term" in other) : meaning.others,
  );
  return {
    alternatives: asked.map(({ concepts }) => concepts.map(({ concept }) => concept)).filter(isSomething),
    hints: [
      ...[...new Set([...pairs, ...asked.flatMap(({ characters }) => characters)])].map((pair) => ({
        terms: [pair],
        weight: pairWeight * (pair.length / 2),
      })),
      ...also.map((other) => wordingOf(other, analyser)).filter(({ terms }) => isSomething(terms)),
    ],
    priors,
    exact,
    // Words that mean something only together say more than each of them: their articles have what was asked.
    sufficient: meanings
      .filter((meaning) => !isInText(meaning))
      .flatMap(({ others }) => others.flatMap((other) => ("term" in other ? [other.term] : []))),
  };
}

/**
 * For English words that no record contains: words in the records that differ by one error, most frequent first.
 */
async function corrections(
  index: SearchIndex,
  corpus: string,
  asked: readonly Asked[],
  unknown: ReadonlySet<Concept>,
  snapshot: string | undefined,
): Promise<Map<Concept, readonly string[]>> {
  const found = new Map<Concept, readonly string[]>();
  const candidates = asked
    .flatMap(({ concepts }) => concepts)
    .filter(({ concept }) => unknown.has(concept))
    .slice(0, mostCorrected);
  for (const { word, concept } of candidates) {
    const slips = slipsOf(word);
    if (slips.length === 0) continue;
    const near = await index.mostFrequent(corpus, slips, 2, snapshot);
    if (near.length > 0) found.set(concept, near);
  }
  return found;
}

function withCorrections(wanted: Wanted, corrected: ReadonlyMap<Concept, readonly string[]>): Wanted {
  return {
    ...wanted,
    alternatives: wanted.alternatives.map((concepts) =>
      concepts.map((concept) => [
        ...concept,
        ...(corrected.get(concept) ?? []).map((word) => ({ terms: [word], weight: otherFormWeight })),
      ]),
    ),
  };
}

function distinct(concepts: Asked["concepts"]): Asked["concepts"] {
  return [...new Map(concepts.map((each) => [each.word, each])).values()];
}

const otherFormWeight = 0.9;
const pairWeight = 0.25;
const mostCorrected = 3;
const mostLookedUp = 50;
/** Each one is looked for in the whole text of each record. */
const mostMarked = 8;

function isCharacter(word: string): boolean {
  return word.length === 1 && isHan(word);
}

function isSomething(list: readonly unknown[]): boolean {
  return list.length > 0;
}

/** Exact terms have a prefix. */
function isWord(term: string): boolean {
  return !/^\p{L}:/u.test(term);
}
