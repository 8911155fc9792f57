import { join } from "node:path";
import { counted } from "@dataq/contract";
import type { Database } from "../../database/database.ts";
import {
  type DatasetName,
  dueDatasets,
  listDatasets,
  putOff,
  seriesOf,
  untilNextRefreshDays,
} from "../../importer/datasets.ts";
import { foldChanged, isFoldPending } from "../../importer/fold.ts";
import { ImportError } from "../../importer/import-error.ts";
import { importSeries } from "../../importer/import-file.ts";
import { inEnglish, type Message } from "../../importer/message.ts";
import type { LocalFile } from "../../importer/origin/local-file.ts";
import { fetchOrigin, isRemote } from "../../importer/origin/origin.ts";
import type { RunState } from "../../importer/runs.ts";
import { findTarget, folds } from "../../operations/imports.ts";
import { documentOf } from "../../operations/registry.ts";
import { analysisRules } from "../../search/analysis/analyser.ts";
import type { SearchEngine } from "../../search/open-index.ts";
import type { SearchIndex } from "../../search/search-index.ts";

export interface RefreshNeeds {
  readonly database: Database;
  readonly index: SearchIndex;
  readonly dataFolder: string;
  /** DATAQ_DATA_MIRROR */
  readonly mirror?: string | undefined;
  readonly signal?: AbortSignal;
  readonly progress: (line: string) => void;
}

/** What must be refreshed now. */
export interface Due {
  readonly datasets: readonly DatasetName[];
  readonly corpora: readonly string[];
  /** Whether a process was killed between importing a pack and folding it. */
  readonly isFoldPending: boolean;
}

export async function findDue(database: Database, now: Date, engine?: SearchEngine): Promise<Due> {
  const pending = await Promise.all(folds.map((fold) => isFoldPending(database, fold)));
  return {
    datasets: await dueDatasets(database, now),
    corpora: await dueCorpora(database, now, engine),
    isFoldPending: pending.includes(true),
  };
}

/** Finds corpora that are 30 days old, or were indexed under older rules or by another engine. */
export async function dueCorpora(database: Database, now: Date, engine?: SearchEngine): Promise<string[]> {
  const found = await database.pool.query<{ corpus: string; isLate: boolean; isOld: boolean }>(
    `select corpus, coalesce(next_refresh_at <= $1 and corpus not like '%#%', false) as "isLate", exists (
         select from search_snapshot_segment p join search_segment s on s.id = p.segment
          where p.snapshot = c.snapshot and (split_part(s.analysis, '+', 1) <> $2 or (s.home is not null) <> $3)) as "isOld"
       from search_corpus c order by corpus`,
    [now, analysisRules, engine !== undefined],
  );
  // Corpora that are only looked up by key are left out, because the rules do not affect them.
  return found.rows
    .filter(({ corpus, isLate, isOld }) => isLate || (isOld && documentOf(corpus) !== undefined))
    .map(({ corpus }) => corpus);
}

/** A failure is reported, keeps the old data, and does not stop the rest. */
export async function refreshDue(needs: RefreshNeeds, due: Due): Promise<void> {
  const { database, index, progress, signal } = needs;
  const attempt = async (what: string, run: () => Promise<unknown>) => {
    try {
      await run();
    } catch (error) {
      if (signal?.aborted) throw error;
      progress(`${what} was not refreshed: ${(error as Error).message}`);
    }
  };
  for (const dataset of due.datasets)
    await attempt(`${dataset.target} ${dataset.name}`, () => refreshDataset(needs, dataset));
  for (const fold of folds)
    await attempt(fold.name, () => foldChanged(database, index, fold, tellingOf(needs)));
  for (const corpus of due.corpora) await attempt(corpus, () => rebuildCorpus(needs, corpus));
}

/**
 * If a downloaded file has changed, repeats the imports that made a data set, with their options. If a file cannot be
 * read, the data set keeps its records, and the next attempt is tomorrow.
 */
export async function refreshDataset(needs: RefreshNeeds, dataset: DatasetName): Promise<void> {
  const { database, index, progress } = needs;
  const { target, name } = dataset;
  const series = await seriesOf(database, dataset);
  if (!series.some(({ origin }) => isRemote(origin))) return putOff(database, dataset, untilNextRefreshDays);
  try {
    const files: LocalFile[] = [];
    for (const run of series) files.push(await fileOf(needs, run));
    if (files.every(({ sha256 }, place) => sha256 === series[place]?.sha256)) {
      await putOff(database, dataset, untilNextRefreshDays);
      progress(`${target}: ${name} is unchanged.`);
      return;
    }
    const steps = files.map((file, place) => ({ file, terms: termsOf(series[place] as RunState, file) }));
    await importSeries(database, index, findTarget(target), dataset, steps, tellingOf(needs));
    progress(`${target}: ${name} was imported again.`);
  } catch (error) {
    if (needs.signal?.aborted) throw error;
    await putOff(database, dataset, 1);
    progress(`${target}: ${name} keeps its records: ${(error as Error).message}`);
  }
}

/** Merges the segments of a corpus into new ones, cut with the newest dictionary. */
export async function rebuildCorpus(needs: RefreshNeeds, corpus: string): Promise<void> {
  const { index, progress, signal } = needs;
  const size = await index.rebuild(corpus, documentOf(corpus), { ...(signal && { signal }) });
  progress(`${corpus}: refreshed, ${counted(size, "document")}`);
}

/** Refreshes everything that was imported for an operation, and its index. */
export async function refreshCorpus(needs: RefreshNeeds, corpus: string): Promise<void> {
  const { database, index } = needs;
  for (const { target, name, state } of await listDatasets(database, index))
    if (target === corpus && state === "serving") await refreshDataset(needs, { target, name });
  await rebuildCorpus(needs, corpus);
}

async function fileOf(
  { dataFolder, mirror, signal, progress }: RefreshNeeds,
  { origin, sha256 }: RunState,
): Promise<LocalFile> {
  const file = await fetchOrigin(origin, {
    folder: join(dataFolder, "downloads"),
    mirror,
    progress: (message) => progress(inEnglish(message)),
    ...(signal && { signal }),
  });
  // A changed local file is not imported automatically, because nobody requested it.
  if (!isRemote(origin) && file.sha256 !== sha256) throw new ImportError("file_changed", { origin });
  return file;
}

/**
 * The options of a run, for the file as it is today. A day that was stated for the old content does not apply to new
 * content.
 */
function termsOf({ options, sha256 }: RunState, file: LocalFile): RunState["options"] {
  return file.sha256 === sha256 ? options : { ...options, retrieved: null };
}

function tellingOf({ progress, signal }: RefreshNeeds) {
  return {
    progress: (message: Message) => progress(inEnglish(message)),
    ...(signal && { signal }),
  };
}
