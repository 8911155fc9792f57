import { Failure, type Params, type Warning, warning } from "@dataq/contract";
import { simplified } from "../search/analysis/script.ts";
import { sizeWithout } from "../search/contents.ts";
import { highlight } from "../search/highlight.ts";
import type { Meaning } from "../search/meaning/meaning.ts";
import type { Hit, SearchIndex, SearchPage } from "../search/search-index.ts";
import { searchText, type TextFound, type TextQuestion } from "../search/text-search.ts";
import { recordsWith } from "./keyed-source.ts";
import type { OptionalSource } from "./layered.ts";
import { listAnswer } from "./list-answer.ts";
import { type Answer, offsetOf, type Page, type SourceContext } from "./source.ts";
import { WrittenRecord } from "./written-record.ts";

/** What an operation adds to the common search. */
export interface Searching {
  /** Reads the parameters. `index` and `corpus` can tell whether a term exists. */
  read(params: Params, index: SearchIndex, corpus: string, now: Date): Promise<ReadQuestion> | ReadQuestion;
  /**
   * Converts a stored record to the returned one, without highlights and score. Omitted if they are the same.
   */
  render?(body: object, now: Date): object;
  /** The text that highlights are made from. */
  text(body: object): string;
  /** Words that often start the most useful part of the text. */
  readonly prefer?: string;
}

export interface ReadQuestion {
  readonly question: TextQuestion;
  readonly warnings: readonly Warning[];
  /** Used instead of the ranking that all questions share. */
  readonly render?: (body: object, now: Date) => object;
  /**
   * A warning that names the missing data. It is used if nothing was found, and the answer is then free. A
   * function checks whether the data is missing and returns none if it is in the data after all.
   */
  readonly notHeld?: Warning | (() => Promise<readonly Warning[]>) | undefined;
  /**
   * A warning that names the missing data which alone would answer. The answer is free, whatever was found: it only
   * shares words with the question.
   */
  readonly notAnswered?: Warning | undefined;
}

export interface MoreOfSearch {
  /** The data set of generated records that fill up the corpus. */
  readonly generated?: string | undefined;
  /** Set if the corpus is also searched by meaning. */
  readonly meaning?: Meaning | undefined;
}

/** Answers from one corpus of the search index. */
export class SearchSource implements OptionalSource {
  readonly #index: SearchIndex;
  readonly #corpus: string;
  readonly #searching: Searching;
  /** The data set of generated records that fill up the corpus. */
  readonly #generated: string | undefined;
  readonly #meaning: Meaning | undefined;

  constructor(index: SearchIndex, corpus: string, searching: Searching, more: MoreOfSearch = {}) {
    this.#index = index;
    this.#corpus = corpus;
    this.#searching = searching;
    this.#generated = more.generated;
    this.#meaning = more.meaning;
  }

  async exists(): Promise<boolean> {
    if (this.#generated === undefined) return (await this.#index.state(this.#corpus)) !== undefined;
    return sizeWithout(await this.#index.contents(this.#corpus), [this.#generated]) > 0;
  }

  async hasGenerated(): Promise<boolean> {
    return this.#generated !== undefined && (await this.#index.state(this.#corpus)) !== undefined;
  }

  /** Records with any of these identities, as stored, without generated ones. */
  async known(identities: readonly string[]): Promise<readonly object[]> {
    const generated = this.#generated;
    return recordsWith(this.#index, this.#corpus, identities, {
      ...(generated !== undefined && { datasets: { without: generated } }),
    });
  }

  /** Rejects values that contain only punctuation, because they would match everything. */
  async check(params: Params): Promise<void> {
    for (const [name, value] of Object.entries(params)) if (!/[\p{L}\p{N}]/u.test(value)) throw noWords(name);
  }

  /** With the model, if the meaning of questions takes part. */
  async version(): Promise<string> {
    const plain = await this.#plainVersion();
    const mark = await this.#meaning?.mark(this.#corpus);
    return mark === undefined ? plain : `${plain}-${mark}`;
  }

  async #plainVersion(): Promise<string> {
    return (await this.#index.state(this.#corpus))?.snapshot ?? "none";
  }

  /**
   * The question as it is read: 民法典577 and 民法典 第577条 are one question. If a question has its own `render`, its
   * parameters are used instead, because a function cannot be compared.
   */
  async normalised(asked: Params, _sandbox: boolean, now: Date): Promise<Params> {
    const params = inOneScript(asked);
    const read = await this.#searching.read(params, this.#index, this.#corpus, now);
    if (read.render !== undefined) return params;
    const { warnings, notHeld, notAnswered = null } = read;
    // All filters must match, in any order: `court:` in the query and the parameter `court` are one filter.
    const filters = read.question.filters.toSorted((a, b) =>
      JSON.stringify(a) < JSON.stringify(b) ? -1 : 1,
    );
    const question = { ...read.question, filters };
    return {
      read: JSON.stringify([question, warnings, typeof notHeld === "object" ? notHeld : null, notAnswered]),
    };
  }

  async run(asked: Params, page: Page, context: SourceContext): Promise<Answer> {
    const params = inOneScript(asked);
    const read = await this.#searching.read(params, this.#index, this.#corpus, context.now);
    const { question, warnings, notHeld, render = this.#searching.render } = read;
    const generated = this.#generated;
    const [snapshot, ranked] = page.snapshot?.split("-") ?? [];
    const place: SearchPage = {
      offset: offsetOf(page),
      limit: page.pageSize,
      ...(snapshot !== undefined && { snapshot }),
      ...(generated !== undefined && {
        datasets: { [context.withoutGenerated ? "without" : "last"]: generated },
      }),
    };
    const mark = await this.#meaning?.mark(this.#corpus, snapshot);
    // Further pages are ranked like the first: a snapshot says whether the meaning took part.
    const isFused = mark !== undefined && (page.snapshot === undefined || ranked === mark);
    const found = await searchText(
      this.#index,
      this.#corpus,
      question,
      place,
      isFused
        ? (text, allowed) => this.#meaning!.near(this.#corpus, text, allowed, place, context.signal)
        : undefined,
    );
    if (found === "no_words") throw noWords(Object.keys(params)[0] ?? "query");
    const isOtherwise = ranked !== undefined && found !== undefined && found.meaning !== "fused";
    const list = listAnswer(
      found,
      page,
      (hit) => this.#record(hit, found as TextFound, context.now, render),
      isOtherwise ? [...warnings, warning("ranked_otherwise")] : warnings,
    );
    const answer: Answer = {
      ...list,
      ...(found?.meaning === "fused" && {
        index: { ...found.index, snapshot: `${found.index.snapshot}-${mark}` },
      }),
      ...(found?.meaning === "failed" && { version: await this.#plainVersion() }),
    };
    if (answer.outcome === "empty" && notHeld !== undefined) {
      const missing = typeof notHeld === "function" ? await notHeld() : [notHeld];
      if (missing.length > 0) return { ...answer, notHeld: true, warnings: [...answer.warnings, ...missing] };
    }
    if (read.notAnswered !== undefined)
      return { ...answer, notHeld: true, warnings: [read.notAnswered, ...answer.warnings] };
    const samples = found?.hits.filter(({ dataset }) => dataset === generated).length ?? 0;
    if (samples === 0) return answer;
    if (samples === found?.hits.length) return { ...answer, sample: true };
    return { ...answer, warnings: [...answer.warnings, warning("some_samples", { count: samples })] };
  }

  #record(
    { body, score, byMeaning }: Hit,
    { words }: TextFound,
    now: Date,
    render: Searching["render"],
  ): object {
    const { prefer, text } = this.#searching;
    const mark =
      byMeaning === true ? null : highlight(body.text(text), words, prefer === undefined ? {} : { prefer });
    const members = {
      highlights: mark === null ? [] : [mark],
      score: words.length === 0 ? null : Math.round(score * 10_000) / 10_000,
    };
    const written = render === undefined ? body.with(members) : undefined;
    if (written !== undefined) return new WrittenRecord(written);
    const stored = body.parse();
    const { source, ...fields } = (render === undefined ? stored : render(stored, now)) as { source: object };
    return { ...fields, ...members, source };
  }
}

/** Simplified characters, half width, single spaces. */
function inOneScript(params: Params): Params {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      simplified(value.normalize("NFKC")).replace(/\s+/g, " ").trim(),
    ]),
  );
}

function noWords(name: string): Failure {
  const param = `params.${name}`;
  return new Failure("no_words", {
    param,
    details: [
      {
        param,
        code: "no_words",
        message: `${param} contains no word to search for`,
        fix: "send at least one letter, digit or Chinese character",
        fixZh: "请至少包含一个汉字、字母或数字",
      },
    ],
  });
}
