import type { Database } from "../database/database.ts";
import { PostingIndex } from "./postings/posting-index.ts";
import type { SearchIndex } from "./search-index.ts";

/** The engine of this service. */
export async function openIndex(database: Database): Promise<SearchIndex> {
  return new PostingIndex(database);
}
