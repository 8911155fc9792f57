import type { ClientBase } from "pg";
import type { Database } from "../database/database.ts";
import type { Contents, DatasetChange, IndexDocument, SearchIndex } from "../search/search-index.ts";
import { type FoldOptions, foldChanged } from "./fold.ts";
import { ImportError } from "./import-error.ts";
import { say } from "./message.ts";
import type { LocalFile } from "./origin/local-file.ts";
import { nameOfAddress } from "./origin/origin.ts";
import { findRuns, type Run, type RunCounts, type RunState } from "./runs.ts";
import type { Stored, Target } from "./target.ts";

/** Identifies a data set. */
export interface DatasetName {
  readonly target: string;
  readonly name: string;
}

/** A data set, with the outcome of every row that was read for it. */
export interface Dataset extends DatasetName {
  readonly corpus: string;
  readonly state: "serving" | "removed";
  /** The imports that made it, oldest first: a replacement, then updates. */
  readonly runs: readonly RunState[];
  /** Null if a run is from a version that did not count rows. */
  readonly rows: number | null;
  readonly refused: number;
  /** Rows of its files that belong to other operations. */
  readonly passedOver: number;
  /** Records that the rows produced. */
  readonly records: number;
  /** Of these, records whose ID occurs again later, in this data set or another. */
  readonly duplicates: number;
  readonly served: number;
  readonly changedAt: Date;
  readonly nextRefreshAt: Date | null;
  /** What `restore` would bring back; null if there is nothing to restore. */
  readonly past: Past | null;
}

export interface Past {
  readonly served: number;
  readonly endedAt: Date;
  readonly restorableUntil: Date;
}

export const restorableDays = 7;
const refreshEveryDays = 30;
const dayMs = 86_400_000;

/** A data set that would keep less than this share of its records needs a confirmation. */
const smallestShare = 0.5;

/** Data sets that are served, and removed ones that can be restored. */
export async function listDatasets(
  database: Database,
  index: SearchIndex,
  now: Date = new Date(),
): Promise<Dataset[]> {
  const found = await database.pool.query<DatasetRow>(
    `select coalesce(d.target, p.target) as target, coalesce(d.name, p.name) as name,
            coalesce(d.corpus, p.corpus) as corpus, to_json(coalesce(d.runs, p.runs)) as runs,
            d.target is not null as is_serving, d.changed_at, d.next_refresh_at, p.served, p.ended_at,
            p.restorable_until
       from dataset d
       full join (select distinct on (target, name) * from dataset_past where restorable_until > $1
                   order by target, name, id desc) p on p.target = d.target and p.name = d.name
      order by 1, 2`,
    [now],
  );
  const runs = new Map(
    (await findRuns(database, [...new Set(found.rows.flatMap((row) => row.runs))])).map((run) => [
      run.id,
      run,
    ]),
  );
  const contents = new Map<string, Contents>();
  for (const corpus of new Set(found.rows.map((row) => row.corpus))) {
    index.forget(corpus);
    contents.set(corpus, await index.contents(corpus));
  }
  return found.rows.map((row) =>
    datasetOfRow(
      row,
      row.runs.flatMap((id) => runs.get(id) ?? []),
      row.is_serving ? (contents.get(row.corpus)?.get(row.name)?.documents ?? 0) : 0,
    ),
  );
}

/** Throws if there is no data set of that name, or if there are several and the operation is not given. */
export async function findDataset(
  database: Database,
  index: SearchIndex,
  name: string,
  target?: string,
): Promise<Dataset> {
  const all = await listDatasets(database, index);
  const found = all.filter((each) => each.name === name && (target === undefined || each.target === target));
  if (found.length > 1)
    throw new ImportError("which_operation", { name, targets: found.map((each) => each.target) });
  if (found[0] === undefined) throw new ImportError("no_dataset", { name });
  return found[0];
}

/** Removes the records from the index. They can be restored. */
export async function removeDataset(
  database: Database,
  index: SearchIndex,
  target: Target,
  name: string,
  options: FoldOptions = {},
): Promise<void> {
  await assertServing(database, { target: target.name, name });
  await index.refresh(target.corpus, none(), {
    dataset: name,
    mode: "replace",
    ...(target.fill && { fill: target.fill }),
    atSwitch: async (change) => {
      await keepPast(change, { target: target.name, name });
      await change.client.query("delete from dataset where target = $1 and name = $2", [target.name, name]);
    },
  });
  if (target.fold) await foldChanged(database, index, target.fold, options);
}

/**
 * Restores the state before the data set was replaced or removed. The present state can then be restored in
 * turn.
 */
export async function restoreDataset(
  database: Database,
  index: SearchIndex,
  target: Target,
  name: string,
  options: FoldOptions = {},
): Promise<{ served: number }> {
  const found = await database.pool.query<PastRow>(
    `select id, snapshot, to_json(runs) as runs from dataset_past
      where target = $1 and name = $2 and restorable_until > now() order by id desc limit 1`,
    [target.name, name],
  );
  const past = found.rows[0];
  if (past === undefined) throw new ImportError("nothing_to_restore", { name, days: restorableDays });
  const set = { target: target.name, name };
  const documents = async function* (): AsyncGenerator<IndexDocument> {
    for await (const body of index.documentsAt(past.snapshot, name))
      yield documentIn(target, name, body as Stored);
  };
  let served = 0;
  await index.refresh(target.corpus, documents(), {
    dataset: name,
    mode: "replace",
    ...(target.fill && { fill: target.fill }),
    ...(options.signal && { signal: options.signal }),
    progress: (done) => {
      if (done % 5_000 === 0) options.progress?.(say("indexed", { done }));
    },
    atSwitch: async (change) => {
      served = change.after;
      await keepPast(change, set);
      await change.client.query("delete from dataset_past where id = $1", [past.id]);
      await put(change.client, set, target.corpus, past.runs, new Date());
    },
  });
  if (target.fold) await foldChanged(database, index, target.fold, options);
  return { served };
}

/** Packs that are folded together keep their records apart, so that no pack replaces another pack's records. */
export function documentIn(target: Target, dataset: string, record: Stored): IndexDocument {
  const document = target.document(record);
  return target.fold === undefined ? document : { ...document, id: `${dataset}|${document.id}` };
}

/** Records, in the transaction of the switch, what an import did to a data set. */
export async function recordImport(
  change: DatasetChange,
  { target, name }: DatasetName,
  corpus: string,
  made: {
    readonly runs: readonly { readonly run: Run; readonly counts: Omit<RunCounts, "duplicateIds"> }[];
    readonly mode: "replace" | "update";
    /** Replaces the data set even if it becomes much smaller. */
    readonly yes: boolean;
  },
): Promise<readonly string[]> {
  const { client, before, after } = change;
  if (made.mode === "replace" && after < before * smallestShare && !made.yes)
    throw new ImportError("would_shrink", { name, before, after });
  const duplicateIds = await change.hiddenIds(mostNamed);
  for (const [place, { run, counts }] of made.runs.entries())
    await run.finish(client, { ...counts, duplicateIds: place === made.runs.length - 1 ? duplicateIds : [] });
  await keepPast(change, { target, name });
  const ids = made.runs.map(({ run }) => run.id);
  const known = await client.query<{ runs: number[]; next_refresh_at: Date }>(
    "select to_json(runs) as runs, next_refresh_at from dataset where target = $1 and name = $2",
    [target, name],
  );
  const old = known.rows[0];
  const isUpdate = made.mode === "update" && old !== undefined;
  await put(
    client,
    { target, name },
    corpus,
    isUpdate ? [...old.runs, ...ids] : ids,
    new Date(),
    // A daily update must not postpone the refresh forever.
    isUpdate ? old.next_refresh_at : undefined,
  );
  return duplicateIds;
}

const mostNamed = 50;

/** Adds an entry for a data set whose records an older version stored differently. */
export async function adoptDataset(
  { client }: DatasetChange,
  { target, name }: DatasetName,
  corpus: string,
): Promise<void> {
  const runs = await client.query<{ id: number }>(
    "select id from import_run where target = $1 and state = 'done' and options is null order by id",
    [target],
  );
  await put(
    client,
    { target, name },
    corpus,
    runs.rows.map(({ id }) => id),
    new Date(),
  );
}

/** Data sets that are 30 days old. */
export async function dueDatasets(database: Database, now: Date): Promise<DatasetName[]> {
  const found = await database.pool.query<DatasetName>(
    "select target, name from dataset where next_refresh_at <= $1 order by target, name",
    [now],
  );
  return found.rows;
}

/** Sets the next refresh of a data set that was checked and kept as it is. */
export async function putOff(database: Database, { target, name }: DatasetName, days: number): Promise<void> {
  await database.pool.query(
    "update dataset set next_refresh_at = now() + make_interval(days => $3) where target = $1 and name = $2",
    [target, name, days],
  );
}

export const untilNextRefreshDays = refreshEveryDays;

/** The imports that made a data set; empty if it is not served. */
export async function seriesOf(database: Database, { target, name }: DatasetName): Promise<RunState[]> {
  const found = await database.pool.query<{ runs: number[] }>(
    "select to_json(runs) as runs from dataset where target = $1 and name = $2",
    [target, name],
  );
  return findRuns(database, found.rows[0]?.runs ?? []);
}

/**
 * The default name of a file's data set: the name of the file, or host and path of an address, because the last part
 * of a path says little. A data set that an older version named after that part keeps its name.
 */
export async function defaultName(database: Database, target: string, file: LocalFile): Promise<string> {
  const plain = datasetOf(file.name);
  if (!/^https?:/.test(file.origin)) return plain;
  const series = await seriesOf(database, { target, name: plain });
  return series.some(({ origin }) => origin === file.origin) ? plain : datasetOf(nameOfAddress(file.origin));
}

export function datasetOf(name: string): string {
  return name.replace(/(?:\.(?:jsonl|ndjson|json|csv|tsv|db|sqlite3?|gz|zst|zip|whl))+$/i, "") || name;
}

async function assertServing(database: Database, { target, name }: DatasetName): Promise<{ corpus: string }> {
  const found = await database.pool.query<{ corpus: string }>(
    "select corpus from dataset where target = $1 and name = $2",
    [target, name],
  );
  if (found.rows[0] === undefined) throw new ImportError("no_dataset", { name });
  return found.rows[0];
}

async function keepPast(
  { client, previous, before, keepPrevious }: DatasetChange,
  { target, name }: DatasetName,
): Promise<void> {
  if (previous === null || before === 0) return;
  const now = new Date();
  const until = new Date(now.getTime() + restorableDays * dayMs);
  const kept = await client.query(
    `insert into dataset_past (target, name, corpus, snapshot, runs, served, ended_at, restorable_until)
     select target, name, corpus, $3, runs, $4, $5, $6 from dataset where target = $1 and name = $2`,
    [target, name, previous, before, now, until],
  );
  if (kept.rowCount !== 0) await keepPrevious(until);
  await client.query("delete from dataset_past where restorable_until < $1", [now]);
}

async function put(
  client: ClientBase,
  { target, name }: DatasetName,
  corpus: string,
  runs: readonly number[],
  now: Date,
  nextRefreshAt: Date = new Date(now.getTime() + refreshEveryDays * dayMs),
): Promise<void> {
  await client.query(
    `insert into dataset (target, name, corpus, runs, changed_at, next_refresh_at) values ($1, $2, $3, $4, $5, $6)
     on conflict (target, name) do update set corpus = excluded.corpus, runs = excluded.runs,
       changed_at = excluded.changed_at, next_refresh_at = excluded.next_refresh_at`,
    [target, name, corpus, runs, now, nextRefreshAt],
  );
}

interface DatasetRow extends DatasetName {
  readonly corpus: string;
  readonly runs: number[];
  readonly is_serving: boolean;
  readonly changed_at: Date | null;
  readonly next_refresh_at: Date | null;
  readonly served: number | null;
  readonly ended_at: Date | null;
  readonly restorable_until: Date | null;
}

interface PastRow {
  readonly id: number;
  readonly snapshot: number;
  readonly runs: number[];
}

function datasetOfRow(row: DatasetRow, runs: readonly RunState[], served: number): Dataset {
  const sum = (of: (run: RunState) => number) => runs.reduce((total, run) => total + of(run), 0);
  const records = sum(({ done }) => done);
  return {
    target: row.target,
    name: row.name,
    corpus: row.corpus,
    state: row.is_serving ? "serving" : "removed",
    runs,
    rows: runs.some(({ rows }) => rows === null) ? null : sum(({ rows }) => rows ?? 0),
    refused: sum(({ bad_rows }) => bad_rows),
    passedOver: sum(({ passed_over }) => passed_over),
    records,
    duplicates: row.is_serving ? records - served : 0,
    served,
    changedAt: row.changed_at ?? (row.ended_at as Date),
    nextRefreshAt: row.next_refresh_at,
    past:
      row.ended_at === null
        ? null
        : {
            served: row.served ?? 0,
            endedAt: row.ended_at,
            restorableUntil: row.restorable_until as Date,
          },
  };
}

async function* none(): AsyncGenerator<IndexDocument> {}
