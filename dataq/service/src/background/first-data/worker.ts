import { setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "../../database/database.ts";
import { inEnglish } from "../../importer/message.ts";
import { fetchOrigin } from "../../importer/origin/origin.ts";
import { importAny } from "../../operations/imports.ts";
import { sampleCorpora, sampleCorpus, sampleDataset } from "../../operations/sample-corpora.ts";
import { openIndex } from "../../search/open-index.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import { type FirstDataNews, type FirstDataTask, lawCorpora } from "./first-data.ts";

/** The thread that `FirstData` starts: builds the missing data, reports each corpus, and ends. */
const task = workerData as FirstDataTask;
const longestHeadStartMs = 15_000;
const stopping = new AbortController();
parentPort?.once("message", () => stopping.abort());

const database = await openDatabase({
  url: task.databaseUrl,
  directUrl: task.databaseDirectUrl,
  folder: task.dataFolder,
  poolSize: 1,
  applicationName: "dataq first data",
  progress: () => {},
});
try {
  const index = await openIndex(database, task.search);
  const laws = bringLaws(index);
  // People ask for laws first. If their download or import takes long, the samples begin before it ends.
  await Promise.race([laws, setTimeout(longestHeadStartMs, undefined, { ref: false })]);
  await Promise.all([laws, buildSamples(index)]);
} finally {
  await database.close();
  parentPort?.close();
}

async function buildSamples(index: SearchIndex): Promise<void> {
  const missing = sampleCorpora.filter(({ corpus }) => task.corpora.includes(sampleCorpus(corpus)));
  if (missing.length === 0) return;
  tell({ line: "Creating samples for operations without real data …" });
  for (const { corpus, documents } of missing) {
    if (stopping.signal.aborted) return;
    const options = { dataset: sampleDataset, mode: "replace" as const, signal: stopping.signal };
    try {
      await index.refresh(sampleCorpus(corpus), each(documents()), options);
    } catch (error) {
      if (!stopping.signal.aborted)
        tell({ line: `Samples of ${corpus} failed: ${(error as Error).message}` });
    }
    tell({ settled: [sampleCorpus(corpus)] });
  }
  if (!stopping.signal.aborted) tell({ line: "Samples created." });
}

async function bringLaws(index: SearchIndex): Promise<void> {
  if (task.laws === undefined) return yieldToCalls();
  const { signal } = stopping;
  const progress = (line: string) => tell({ line });
  try {
    progress(`No laws yet: downloading ${task.laws} …`);
    const file = await fetchOrigin(task.laws, {
      folder: join(task.dataFolder, "downloads"),
      signal,
      progress: (message) => progress(inEnglish(message)),
    });
    const { rows, size } = await importAny(database, index, lawCorpora[0] as string, file, {
      again: true,
      signal,
    });
    progress(
      `Laws imported. Rows read: ${rows.toLocaleString("en")}; searchable articles: ${(size ?? 0).toLocaleString("en")}.`,
    );
  } catch (error) {
    if (signal.aborted) return;
    const reason = (error as Error).message.replace(/\.?$/, ".");
    progress(`Laws could not be imported: ${reason} To try again: dataq import legal_laws ${task.laws}`);
  } finally {
    tell({ settled: lawCorpora });
    yieldToCalls();
  }
}

/** On Linux this lowers the priority of this thread only, so that calls come first. */
function yieldToCalls(): void {
  try {
    setPriority(5);
  } catch {
    // Not permitted here. Calls are then a little slower.
  }
}

async function* each<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  let count = 0;
  for (const item of items) {
    // Lets other work run, including a request to stop.
    if (++count % 50 === 0) await new Promise(setImmediate);
    yield item;
  }
}

function tell(news: FirstDataNews): void {
  parentPort?.postMessage(news);
}
