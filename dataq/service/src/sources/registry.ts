import type { PostingIndex } from "../search/postings/posting-index.ts";
import { LawCatalogSource } from "./legal/law-catalog/law-catalog.ts";
import { LawSource } from "./legal/laws/laws.ts";
import type { Source, Sources } from "./source.ts";

/** Every operation's source, joined by hand. */
export function createSources({ index }: { readonly index: PostingIndex }): Sources {
  const sources: Readonly<Record<string, Source>> = {
    legal_laws: new LawSource(index),
    legal_law_catalog: new LawCatalogSource(index),
  };
  return { find: (operation) => (Object.hasOwn(sources, operation) ? sources[operation] : undefined) };
}
