import { keyTerm } from "../search/keyed-document.ts";
import type { SearchIndex } from "../search/search-index.ts";

/** Imported records that are looked up by key. */
export class KeyedRecords {
  readonly #index: SearchIndex;
  readonly #corpus: string;

  constructor(index: SearchIndex, corpus: string) {
    this.#index = index;
    this.#corpus = corpus;
  }

  async exists(): Promise<boolean> {
    return (await this.#index.state(this.#corpus)) !== undefined;
  }

  async version(): Promise<string> {
    return (await this.#index.state(this.#corpus))?.snapshot ?? "none";
  }

  /** Records with any of the keys, newest first. */
  async find(keys: readonly string[], limit: number): Promise<object[]> {
    const query = { any: keys.map((key) => ({ term: keyTerm(key) })) };
    const found = await this.#index.search(this.#corpus, { query }, { offset: 0, limit });
    return (found?.hits ?? []).map(({ body }) => body.parse());
  }
}
