import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setImmediate } from "node:timers/promises";
import { Jieba } from "@node-rs/jieba";
import { simplified } from "./script.ts";

/** jieba's own module for it also reads 6 MB of word weights, which nothing here needs. */
const dictionary = readFileSync(createRequire(import.meta.url).resolve("@node-rs/jieba/dict.txt"));
const lineEnd = 0x0a;
const pieceBytes = 500_000;

/**
 * Cuts texts into terms. Documents are cut into words and their parts (民间借贷 → 民间, 借贷, 民间借贷), queries into words only,
 * so that a query's word is found wherever it is a word or a part of one. Unknown words are not guessed: a guess
 * depends on the neighbouring words, so a name would be found in one sentence and missed in another. Pairs of
 * neighbouring characters are indexed too, so that a word that was split wrongly is still found.
 */
export class Analyser {
  /** Names the rules and the dictionary; an index built under another name must be rebuilt. */
  readonly version: string;
  /** The words in addition to jieba's own. */
  readonly words: readonly string[];
  readonly #jieba: Jieba;

  constructor(
    version: string = analysisRules,
    words: readonly string[] = [],
    jieba: Jieba = Jieba.withDict(dictionary),
  ) {
    this.#jieba = jieba;
    const extra = words.filter(isAddable);
    if (extra.length > 0) {
      this.#jieba.loadDict(Buffer.from(extra.map((word) => `${word} ${wordFrequency}\n`).join("")));
    }
    this.version = version;
    this.words = words;
  }

  /** The same as the constructor makes, but other work goes on meanwhile: reading the dictionary takes 0.2 s. */
  static async load(version: string, words: readonly string[]): Promise<Analyser> {
    const jieba = new Jieba();
    for (let from = 0; from < dictionary.length; ) {
      const end = dictionary.indexOf(lineEnd, from + pieceBytes);
      const to = end === -1 ? dictionary.length : end + 1;
      jieba.loadDict(dictionary.subarray(from, to));
      from = to;
      await setImmediate();
    }
    return new Analyser(version, words, jieba);
  }

  /** Terms of a document's text, in order, with repeats. */
  documentTerms(text: string, options?: CutOptions): string[] {
    return runs(text).flatMap((run) => this.runTerms(run, options));
  }

  /** Terms of one run of `runs`; equal runs have equal terms, so that a builder may cache them. */
  runTerms(run: string, options?: CutOptions): string[] {
    return this.runPlaces(run, options).map(({ term }) => term);
  }

  /** The same with the position of each term in the run; the positions of one term ascend. */
  runPlaces(run: string, { withPairs = false }: CutOptions = {}): Place[] {
    if (!isHan(run)) return [{ term: run, at: 0 }];
    const cut = this.#jieba.cutForSearch(run, false);
    const places: Place[] = [];
    const pairAt = new Uint8Array(run.length);
    let next = 0;
    let begin = 0;
    for (const word of this.#jieba.cut(run, false)) {
      let at = 0;
      let length = 0;
      for (let term = ""; term !== word && next < cut.length; next++) {
        term = cut[next] as string;
        // Parts are ordered by length, then by position.
        at = term.length === length ? word.indexOf(term, at + 1) : word.indexOf(term);
        length = term.length;
        places.push({ term, at: begin + at });
        if (withPairs && isPair(term)) pairAt[begin + at] = 1;
      }
      begin += word.length;
    }
    if (withPairs) {
      for (const pair of pairsOf(run)) if (pairAt[pair.at] === 0) places.push(pair);
      places.sort((a, b) => a.at - b.at);
    }
    return places.filter(({ term }) => isIndexed(term));
  }

  /** Words of a phrase and their positions in it, as in a document that contains the phrase. */
  phraseTerms(text: string): Place[] {
    const places: Place[] = [];
    let begin = 0;
    for (const run of runs(text)) {
      let at = begin;
      for (const term of isHan(run) ? this.#jieba.cut(run, false) : [run]) {
        if (isIndexed(term)) places.push({ term, at });
        at += term.length;
      }
      begin += run.length + runGap;
    }
    return places;
  }

  /** Words of a query, in order, without repeats. */
  queryTerms(text: string): string[] {
    const words = runs(text).flatMap((run) => (isHan(run) ? this.#jieba.cut(run, false) : [run]));
    return [...new Set(words.filter(isIndexed))];
  }

  /** The pairs of neighbouring characters of a query: parts of its words, and what joins two of them. */
  queryPairs(text: string): string[] {
    const pairs = runs(text).flatMap((run) => (isHan(run) ? pairsOf(run) : []));
    return [...new Set(pairs.map(({ term }) => term))];
  }
}

export interface CutOptions {
  readonly withPairs?: boolean;
}

/** A term and its position, in UTF-16 units. */
export interface Place {
  readonly term: string;
  readonly at: number;
}

/** Between two runs there is at least one character that is in neither. */
export const runGap = 1;
/** Positions between two texts of a document, so that no phrase spans both. */
export const textGap = 64;

/**
 * Version of the rules by which documents are split and exact terms are made. It is also the version of
 * jieba's own dictionary without further words. An index that was built with other rules is rebuilt after the
 * start.
 */
export const analysisRules = "words-4";
/** Longer words would hide their parts: of a word, only parts of two and three characters are indexed. */
export function isAddable(word: string): boolean {
  return /^\p{Script=Han}{2,4}$/u.test(word);
}

const wordFrequency = 50;
const longestTerm = 64;
/** Particles that are ignored, because nearly every sentence contains them. */
const ignored = new Set(["的", "了"]);

/** Runs of Chinese characters, and words of other letters and digits, in one form (NFKC, lower case, simplified). */
export function runs(text: string): string[] {
  const form = text.normalize("NFKC").toLowerCase();
  return (form.match(/\p{Script=Han}+|[\p{L}\p{N}]+/gu) ?? []).flatMap((run) =>
    /^\p{Script=Han}+$/u.test(run) || !/\p{Script=Han}/u.test(run)
      ? [isHan(run) ? simplified(run) : beginningOf(run)]
      : (run.match(/\p{Script=Han}+|[^\p{Script=Han}]+/gu) ?? []).map((part) =>
          isHan(part) ? simplified(part) : beginningOf(part),
        ),
  );
}

/** A word up to the longest length of a term. Half a character at the end is left out. */
function beginningOf(word: string): string {
  const term = word.slice(0, longestTerm);
  return term.isWellFormed() ? term : term.slice(0, -1);
}

/**
 * The pairs of neighbouring characters. A rare character is two UTF-16 units long (𠮷): half of one is no text, and
 * PostgreSQL could not tell the halves of two characters apart.
 */
function pairsOf(run: string): Place[] {
  const pairs: Place[] = [];
  for (let at = 0, next = endOf(run, 0); next < run.length; ) {
    const end = endOf(run, next);
    pairs.push({ term: run.slice(at, end), at });
    at = next;
    next = end;
  }
  return pairs;
}

function isPair(term: string): boolean {
  return endOf(term, endOf(term, 0)) === term.length;
}

/** Where the character at a position ends. */
function endOf(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

function isIndexed(word: string): boolean {
  return !ignored.has(word);
}

export function isHan(run: string): boolean {
  return /^\p{Script=Han}/u.test(run);
}
