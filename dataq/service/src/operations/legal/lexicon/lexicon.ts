import { readdirSync, readFileSync } from "node:fs";
import { readNumber } from "../question/chinese-number.ts";
import type { ArticleNumber } from "../question/law-reference.ts";
import { type FoundAt, WordFinder } from "./word-finder.ts";

/** The legal meaning of an everyday word. */
export interface Expansion {
  /** The everyday word in the lexicon. `A+B` means that a question must contain both, in any order. */
  readonly word: string;
  /** The corresponding legal terms, as they occur in the articles of `places`. */
  readonly terms: readonly string[];
  /** Weight of the terms. The word itself has the weight 1. */
  readonly weight: number;
  /** The articles that the terms were taken from. */
  readonly places: readonly LawPlace[];
  /** The charge or cause of action that the word names. */
  readonly cause?: string;
}

export interface LawPlace {
  /** The law in the form of `lawKey`: 民法典, 刑法. */
  readonly law: string;
  readonly article: ArticleNumber;
}

/** An everyday word that occurs in a question. */
export interface FoundWord extends FoundAt {
  readonly expansions: readonly Expansion[];
}

/** A charge of the Criminal Law or a cause of action (案由). */
export interface Cause {
  readonly name: string;
  readonly kind: "crime" | "civil";
  readonly places: readonly LawPlace[];
  /** Earlier names, and parts of the name that judgments use alone. */
  readonly otherNames: readonly string[];
  readonly everydayWords: readonly string[];
}

/** A line of one of the word lists. */
export interface WordRow {
  readonly file: string;
  readonly words: readonly string[];
  readonly terms: readonly string[];
  readonly closeness: Closeness;
  readonly places: readonly LawPlace[];
}

/**
 * `same`: a legal term with the same meaning. `near`: one of the word's meanings. `topic`: what the law says
 * about it.
 */
export const weights = { same: 0.8, near: 0.5, topic: 0.3 } as const;
export type Closeness = keyof typeof weights;

/** Maps everyday words to legal terms. The data is in files in this folder and is read once. */
export class Lexicon {
  readonly rows: readonly WordRow[];
  readonly causes: readonly Cause[];
  /** Question words, longest first: 怎么办, 能不能. */
  readonly askingWords: readonly string[];
  /** Words that hide shorter words inside them: 打印 does not count as 打. */
  readonly wholeWords: readonly string[];
  /** Groups of words for combinations: `@孩子` stands for 孩子, 小孩, 娃. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly #expansions = new Map<string, Expansion[]>();
  readonly #causes = new Map<string, Cause>();
  readonly #finder: WordFinder;
  readonly #asking: RegExp;

  constructor(folder: URL) {
    this.rows = readdirSync(new URL("words/", folder))
      .sort()
      .flatMap((file) => readTable(new URL(`words/${file}`, folder)).map((row) => wordRow(file, row)));
    this.causes = [
      ...readTable(new URL("crimes.tsv", folder)).map((row) => cause("crime", row)),
      ...readTable(new URL("causes.tsv", folder)).map((row) => cause("civil", row)),
    ];
    this.groups = new Map(
      readTable(new URL("groups.tsv", folder)).map(([name, words]) => [`@${name}`, list(words)]),
    );
    this.askingWords = readLines(new URL("asking.txt", folder)).sort((a, b) => b.length - a.length);
    const [phrases, particles] = [1, 0].map((isPhrase) =>
      this.askingWords.filter((word) => Number(word.length > 1) === isPhrase).join("|"),
    );
    // A single character is a question word only at the end of a clause: 吧 in 网吧 is part of another word.
    this.#asking = new RegExp(`${phrases}|(?:${particles})(?=[\\s\\p{P}]|$)`, "gu");
    for (const row of this.rows) for (const word of row.words) this.#add({ ...row, word });
    for (const each of this.causes) this.#addCause(each);
    this.wholeWords = readLines(new URL("whole-words.txt", folder));
    this.#finder = new WordFinder(this.#expansions.keys(), this.groups, this.wholeWords);
  }

  /** The legal meanings of a word; empty if the lexicon does not have the word. */
  expand(word: string): readonly Expansion[] {
    return this.#expansions.get(word) ?? [];
  }

  /** The everyday words of a question, which is in NFKC and simplified characters. See `WordFinder`. */
  recognise(question: string): FoundWord[] {
    return this.#finder
      .find(question.toLowerCase())
      .map((found) => ({ ...found, expansions: this.expand(found.word) }));
  }

  /**
   * The articles of a charge or cause of action. Accepts its name and other names, with or without 罪 and 纠纷.
   */
  articlesOf(name: string): readonly LawPlace[] {
    return this.cause(name)?.places ?? [];
  }

  cause(name: string): Cause | undefined {
    return this.#causes.get(causeKey(name));
  }

  /**
   * The charges and causes of action in a question, by name or in everyday words, in the order of the
   * question.
   */
  causesIn(question: string): Cause[] {
    const names = this.recognise(question)
      .sort((a, b) => a.at - b.at)
      .flatMap(({ expansions }) => expansions.flatMap(({ cause: name }) => name ?? []));
    return [...new Set(names)].map((name) => this.cause(name) as Cause);
  }

  /** The question with each question word replaced by a space. */
  withoutAsking(question: string): string {
    return question.replace(this.#asking, " ").replace(/\s+/gu, " ").trim();
  }

  #add(row: Pick<WordRow, "terms" | "closeness" | "places"> & { word: string; cause?: string }): void {
    const { word, terms, closeness, places } = row;
    const list = this.#expansions.get(word) ?? [];
    list.push({
      word,
      terms,
      weight: weights[closeness],
      places,
      ...(row.cause !== undefined && { cause: row.cause }),
    });
    this.#expansions.set(word, list);
  }

  #addCause(each: Cause): void {
    const { name, otherNames, everydayWords, places } = each;
    const names = [name, ...otherNames].map((other) => other.normalize("NFKC"));
    for (const other of names)
      if (!this.#causes.has(causeKey(other))) this.#causes.set(causeKey(other), each);
    const terms = [withoutEnding(name.normalize("NFKC"))];
    for (const word of new Set(names.flatMap((other) => [other, withoutEnding(other)])))
      if (this.cause(word) === each) this.#add({ word, terms, closeness: "same", places, cause: name });
    for (const word of everydayWords) this.#add({ word, terms, closeness: "near", places, cause: name });
  }
}

let builtIn: Lexicon | undefined;

/** The built-in lexicon. It is read at first use, which takes a tenth of a second: most commands do not search. */
export function builtInLexicon(): Lexicon {
  builtIn ??= new Lexicon(new URL("./", import.meta.url));
  return builtIn;
}

function wordRow(file: string, [words, terms, closeness, places]: readonly string[]): WordRow {
  return {
    file,
    words: list(words),
    terms: list(terms),
    closeness: closeness as Closeness,
    places: readPlaces(places),
  };
}

function cause(kind: Cause["kind"], [name, places, otherNames, everydayWords]: readonly string[]): Cause {
  return {
    name: name as string,
    kind,
    places: readPlaces(places),
    otherNames: list(otherNames),
    everydayWords: list(everydayWords),
  };
}

/** Reads a list of articles such as `劳动合同法 38 85; 刑法 133之一`. */
function readPlaces(text = ""): LawPlace[] {
  if (text === "") return [];
  return text
    .split(";")
    .map((part) => part.trim().split(/\s+/))
    .flatMap(([law, ...numbers]) =>
      numbers.map((number) => ({ law: law as string, article: articleNumber(number) })),
    );
}

function articleNumber(text: string): ArticleNumber {
  const [, number, sub] = /^(\d+)(?:之([一二三四五六七八九十]+))?$/u.exec(text) ?? [];
  if (number === undefined) throw new Error(`${text} is not the number of an article`);
  return { number: Number(number), sub: sub === undefined ? null : (readNumber(sub) ?? null) };
}

function list(cell = ""): string[] {
  return cell === "" ? [] : cell.split("|");
}

/** Rows of a table without its heading; columns are separated by tabs. */
function readTable(file: URL): string[][] {
  return readLines(file)
    .slice(1)
    .map((line) => line.split("\t"));
}

/** Lines that are neither empty nor a comment (`#`). */
function readLines(file: URL): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** The normal form of a name: 走私、贩卖、运输、制造毒品罪 and 走私贩卖运输制造毒品 are one charge. */
function causeKey(name: string): string {
  return withoutEnding(name.normalize("NFKC").replace(/[、,()\s]/gu, ""));
}

function withoutEnding(name: string): string {
  return name.replace(/(?:罪|纠纷)$/u, "");
}
