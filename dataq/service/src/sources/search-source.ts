import type { Params } from "@dataq/contract";
import { highlight } from "../search/highlight.ts";
import type { PostingIndex } from "../search/postings/posting-index.ts";
import type { Hit, SearchPage } from "../search/search-index.ts";
import { searchText, type TextFound, type TextQuestion } from "../search/text-search.ts";
import type { OptionalSource } from "./layered.ts";
import { listAnswer } from "./list-answer.ts";
import { type Answer, offsetOf, type Page, type SourceContext } from "./source.ts";

/** What a searched operation adds to the search that all share. */
export interface Searching {
  /** Reads the parameters; `index` and `corpus` are there to look whether a term exists. */
  read(params: Params, index: PostingIndex, corpus: string): Promise<ReadQuestion> | ReadQuestion;
  /** The stored record as it is given back, without highlights and score. */
  render(body: object, now: Date): object;
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

  #record(hit: Hit, found: TextFound, now: Date): object {
    const { source, ...fields } = this.#searching.render(hit.body, now) as { source: object };
    const { prefer } = this.#searching;
    const mark = highlight(
      this.#searching.text(hit.body),
      found.words,
      prefer === undefined ? {} : { prefer },
    );
    return {
      ...fields,
      highlights: mark === null ? [] : [mark],
      score: found.words.length === 0 ? null : Math.round(hit.score * 10_000) / 10_000,
      source,
    };
  }
}
