import { Jieba } from "@node-rs/jieba";
import { dict } from "@node-rs/jieba/dict.js";

/**
 * Cuts texts into terms. Documents are cut into words and their parts (民间借贷 → 民间, 借贷, 民间借贷), queries
 * into words only, so that a query's word is found wherever it is a word or a part of one. Both without guessing
 * of unknown words: a guess depends on the neighbours, and then a name found in one sentence is lost in another.
 */
export class Analyser {
  /** Names the rules and the dictionary; an index built under another name must be built anew. */
  readonly version: string;
  readonly #jieba: Jieba;

  constructor(version: string = plainAnalysis, words: readonly string[] = []) {
    this.#jieba = Jieba.withDict(dict);
    const extra = words.filter(isAddable);
    if (extra.length > 0) {
      this.#jieba.loadDict(Buffer.from(extra.map((word) => `${word} ${wordFrequency}\n`).join("")));
    }
    this.version = version;
  }

  /** Terms of a document's text, in order, with repeats. */
  documentTerms(text: string): string[] {
    return runs(text).flatMap((run) => this.runTerms(run));
  }

  /** Terms of one run of `runs`; equal runs have equal terms, so that a builder may remember them. */
  runTerms(run: string): string[] {
    return this.runPlaces(run).map(({ term }) => term);
  }

  /** The same with the place of each in the run. Those of one word stand together: its parts, then itself. */
  runPlaces(run: string): Place[] {
    if (!isHan(run)) return [{ term: run, at: 0 }];
    const cut = this.#jieba.cutForSearch(run, false);
    const places: Place[] = [];
    let next = 0;
    let begin = 0;
    for (const word of this.#jieba.cut(run, false)) {
      let at = 0;
      let length = 0;
      for (let term = ""; term !== word && next < cut.length; next++) {
        term = cut[next] as string;
        // Parts come by length, and those of one length in their order.
        at = term.length === length ? word.indexOf(term, at + 1) : word.indexOf(term);
        length = term.length;
        places.push({ term, at: begin + at });
      }
      begin += word.length;
    }
    return places.filter(({ term }) => isIndexed(term));
  }

  /** Words of a phrase and where they stand in it, as a document that has the phrase would have them. */
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

  /** The smaller words that a query word is made of, for a second try. */
  parts(word: string): string[] {
    if (!isHan(word)) return [word];
    const parts = this.#jieba.cutForSearch(word, false).filter((part) => part !== word && isIndexed(part));
    return parts.length > 0 ? parts : [...word];
  }
}

/** A term and where it stands, counted in UTF-16 units. */
export interface Place {
  readonly term: string;
  readonly at: number;
}

/** Between two runs stands at least one character that is in none. */
export const runGap = 1;

/** The rules with jieba's own dictionary and no further words. */
export const plainAnalysis = "words-1";
/** Longer words would hide their parts: of a word, only parts of two and three characters are indexed. */
export function isAddable(word: string): boolean {
  return /^\p{Script=Han}{2,4}$/u.test(word);
}

const wordFrequency = 50;
const longestTerm = 64;
/** Particles that nearly every sentence has. */
const ignored = new Set(["的", "了"]);

/** Runs of Chinese characters, and words of other letters and digits, in one form (NFKC, lower case). */
export function runs(text: string): string[] {
  const form = text.normalize("NFKC").toLowerCase();
  return (form.match(/\p{Script=Han}+|[\p{L}\p{N}]+/gu) ?? []).flatMap((run) =>
    /^\p{Script=Han}+$/u.test(run) || !/\p{Script=Han}/u.test(run)
      ? [run.slice(0, isHan(run) ? undefined : longestTerm)]
      : (run.match(/\p{Script=Han}+|[^\p{Script=Han}]+/gu) ?? []).map((part) =>
          isHan(part) ? part : part.slice(0, longestTerm),
        ),
  );
}

function isIndexed(word: string): boolean {
  return !ignored.has(word);
}

function isHan(run: string): boolean {
  return /^\p{Script=Han}/u.test(run);
}
