import { readFile } from "node:fs/promises";
import type { Database } from "../database/database.ts";
import { EngineIndex } from "./engine-index.ts";
import { PostingEngine, type PostingEngineOptions } from "./postings/posting-engine.ts";
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

/** The index of this service. What belongs to OpenSearch is loaded only if it is set. */
export async function openIndex(database: Database, engine: SearchEngine | undefined): Promise<SearchIndex> {
  if (engine === undefined) return embeddedIndex(database);
  const { OpenSearchEngine } = await import("./opensearch/opensearch-engine.ts");
  const { certificateFile, ...address } = engine;
  const certificates =
    certificateFile === undefined ? undefined : await readFile(certificateFile, "utf8").catch(unreadable);
  if (certificates?.includes("-----BEGIN CERTIFICATE-----") === false)
    throw new Error(`DATAQ_SEARCH_CA: ${certificateFile} contains no certificate in PEM.`);
  return new EngineIndex(database, {
    embedded: new PostingEngine(database),
    chosen: new OpenSearchEngine(database, {
      ...address,
      ...(certificates !== undefined && { certificates }),
    }),
  });
}

export interface EmbeddedOptions extends PostingEngineOptions {
  readonly now?: () => number;
}

/** The embedded engine alone. */
export function embeddedIndex(database: Database, { now, ...options }: EmbeddedOptions = {}): SearchIndex {
  return new EngineIndex(database, { embedded: new PostingEngine(database, options) }, now);
}

function unreadable(error: Error): never {
  throw new Error(`DATAQ_SEARCH_CA cannot be read: ${error.message}`, { cause: error });
}
