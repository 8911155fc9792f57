import { keyTerm } from "../search/keyed-document.ts";
import type { SearchIndex, SearchPage } from "../search/search-index.ts";

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

  /** Records with any of these identities. */
  async known(identities: readonly string[]): Promise<readonly object[]> {
    return recordsWith(this.#index, this.#corpus, identities);
  }

  /** Records with any of the keys, newest first. */
  async find(keys: readonly string[], limit: number): Promise<object[]> {
    return recordsWith(this.#index, this.#corpus, keys.map(keyTerm), { limit });
  }
}

/** Records with any of the terms. */
export async function recordsWith(
  index: SearchIndex,
  corpus: string,
  terms: readonly string[],
  { limit = 100, ...page }: Partial<Pick<SearchPage, "limit" | "datasets">> = {},
): Promise<object[]> {
  if (terms.length === 0) return [];
  const query = { any: terms.map((term) => ({ term })) };
  const found = await index.search(corpus, { query }, { ...page, offset: 0, limit });
  return (found?.hits ?? []).map(({ body }) => body.parse());
}
