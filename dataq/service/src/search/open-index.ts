import { readFile } from "node:fs/promises";
import type { Database } from "../database/database.ts";
import { PostingIndex } from "./postings/posting-index.ts";
import type { SearchIndex } from "./search-index.ts";

/** The engine that the operator chose instead of the embedded one. */
export interface SearchEngine {
  /** `https://host:9200`, without credentials. */
  readonly url: string;
  /** The first part of the names of its indices. */
  readonly prefix: string;
  readonly credentials?: { readonly user: string; readonly password: string };
  /** A file of certificates in PEM that are trusted instead of the system's. */
  readonly certificateFile?: string;
}

/** The engine of this service. What belongs to OpenSearch is loaded only if it is set. */
export async function openIndex(database: Database, engine: SearchEngine | undefined): Promise<SearchIndex> {
  if (engine === undefined) return new PostingIndex(database);
  const { OpenSearchIndex } = await import("./opensearch/opensearch-index.ts");
  const { certificateFile, ...address } = engine;
  const certificates =
    certificateFile === undefined ? undefined : await readFile(certificateFile, "utf8").catch(unreadable);
  return new OpenSearchIndex(database, { ...address, ...(certificates !== undefined && { certificates }) });
}

function unreadable(error: Error): never {
  throw new Error(`DATAQ_SEARCH_CA cannot be read: ${error.message}`, { cause: error });
}
