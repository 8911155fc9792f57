import type { Params } from "@dataq/contract";
import { highlight } from "../search/highlight.ts";
import type { PostingIndex } from "../search/postings/posting-index.ts";
import type { Hit, SearchPage } from "../search/search-index.ts";
import { searchText, type TextFound, type TextQuestion } from "../search/text-search.ts";
import type { OptionalSource } from "./layered.ts";
import { listAnswer } from "./list-answer.ts";
import { type Answer, offsetOf, type Page, type SourceContext } from "./source.ts";
import { WrittenRecord } from "./written-record.ts";

/** What a searched operation adds to the search that all share. */
export interface Searching {
  /** Reads the parameters; `index` and `corpus` are there to look whether a term exists. */
  read(params: Params, index: PostingIndex, corpus: string): Promise<ReadQuestion> | ReadQuestion;
  /** The record that is given back, without highlights and score; left out where that is the stored one. */
  render?(body: object, now: Date): object;
  /** The text that highlights are taken from. */
  text(body: object): string;
  /** Where in the text the best part is likely to begin. */
  readonly prefer?: string;
}

export interface ReadQuestion {
  readonly question: TextQuestion;
  readonly warnings: readonly string[];
}

/** Answers from one corpus of the search index. */
export class SearchSource implements OptionalSource {
  readonly #index: PostingIndex;
  readonly #corpus: string;
  readonly #searching: Searching;

  constructor(index: PostingIndex, corpus: string, searching: Searching) {
    this.#index = index;
    this.#corpus = corpus;
    this.#searching = searching;
  }

  async exists(): Promise<boolean> {
    return (await this.#index.state(this.#corpus)) !== undefined;
  }

  async version(): Promise<string> {
    return (await this.#index.state(this.#corpus))?.snapshot ?? "none";
  }

  async run(params: Params, page: Page, context: SourceContext): Promise<Answer> {
    const { question, warnings } = await this.#searching.read(params, this.#index, this.#corpus);
    const place: SearchPage = {
      offset: offsetOf(page),
      limit: page.pageSize,
      ...(page.snapshot !== undefined && { snapshot: page.snapshot }),
    };
    const found = await searchText(this.#index, this.#corpus, question, place);
    return listAnswer(found, page, (hit) => this.#record(hit, found as TextFound, context.now), warnings);
  }

  #record({ body, score }: Hit, { words }: TextFound, now: Date): object {
    const { prefer, render, text } = this.#searching;
    const mark = highlight(body.text(text), words, prefer === undefined ? {} : { prefer });
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
