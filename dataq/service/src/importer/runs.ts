import type { ClientBase } from "pg";
import type { Database, Queries } from "../database/database.ts";
import type { Migration } from "../database/migrations.ts";
import { inEnglish, type Message, readMessage, say } from "./message.ts";
import type { PublisherTerms } from "./provenance.ts";

/** What was imported, the progress of running builds, and the runs that made each data set. */
export const importMigrations: readonly Migration[] = [
  {
    name: "importer/1-runs",
    up: `
create table import_run (
  id bigint generated always as identity primary key,
  target text not null,
  dataset text not null,
  origin text not null,
  sha256 text not null,
  state text not null check (state in ('running', 'done', 'failed')),
  done int not null default 0,
  total int,
  bad_rows int not null default 0,
  message text,
  started_at timestamptz not null,
  updated_at timestamptz not null
);
create index on import_run (target, dataset);
`,
  },
  {
    name: "importer/2-said",
    // The message as code and values, so that it can be shown in other languages.
    up: "alter table import_run add column said jsonb",
  },
  {
    name: "importer/3-datasets",
    // Older runs stored neither their options nor all of their counts. They are treated as plain replacements.
    up: `
alter table import_run add column options jsonb;
alter table import_run add column rows int;
alter table import_run add column passed_over int not null default 0;
alter table import_run add column duplicate_ids text[] not null default '{}';

create table dataset (
  target text not null,
  name text not null,
  corpus text not null,
  -- The series that made it, oldest first: a replacement, then updates.
  runs bigint[] not null,
  changed_at timestamptz not null,
  next_refresh_at timestamptz not null,
  primary key (target, name)
);
-- What a data set was before it was replaced or removed.
create table dataset_past (
  id bigint generated always as identity primary key,
  target text not null,
  name text not null,
  corpus text not null,
  snapshot bigint not null,
  runs bigint[] not null,
  served int not null,
  ended_at timestamptz not null,
  restorable_until timestamptz not null
);
create index on dataset_past (target, name);
-- Which snapshots of the packs what serves was made from.
create table dataset_fold (
  name text primary key,
  made_from text not null
);

insert into dataset (target, name, corpus, runs, changed_at, next_refresh_at)
select target, dataset, case when target in ('divisions', 'holidays', 'company_names') then 'reference:' || target
       else target end, array_agg(id order by id), max(updated_at), max(updated_at) + interval '30 days'
  from (select distinct on (target, dataset) * from import_run where state = 'done'
         order by target, dataset, id desc) as last
 where origin <> 'generator' and target not in ('legal_laws', 'legal_law_catalog', 'lexicon')
 group by target, dataset;
`,
  },
  {
    name: "importer/4-publishers",
    up: "alter table import_run add column publishers jsonb",
  },
];

/** The options of an import, which every refresh repeats. */
export interface RunOptions extends PublisherTerms {
  readonly mode: "replace" | "update";
  readonly table: string | null;
  /** Whether versions of laws are served even if they omit many articles. */
  readonly acceptVersions: boolean;
}

export const plainOptions: RunOptions = {
  mode: "replace",
  source: null,
  kind: "third_party",
  licence: null,
  retrieved: null,
  table: null,
  acceptVersions: false,
};

export interface RunStart {
  readonly target: string;
  readonly dataset: string;
  readonly origin: string;
  readonly sha256: string;
  readonly options: RunOptions;
  readonly total?: number;
}

export interface RunCounts {
  /** Rows of the file, whatever their outcome. */
  readonly rows: number;
  readonly records: number;
  readonly badRows: number;
  /** Rows that belong to another target. */
  readonly passedOver: number;
  readonly duplicateIds: readonly string[];
  readonly publishers: readonly RunPublisher[];
}

/** A publisher that records of the run name as their source. */
export interface RunPublisher {
  readonly name: string;
  readonly licence: string | null;
}

/** One run of an import or a build, recorded while it runs. */
export class Run {
  readonly id: number;
  readonly #database: Database;
  #told = 0;

  private constructor(database: Database, id: number) {
    this.#database = database;
    this.id = id;
  }

  static async start(database: Database, start: RunStart): Promise<Run> {
    // A run that is still marked as running belongs to a killed process.
    await database.pool.query(
      `update import_run set state = 'failed', message = $3, said = $4
        where target = $1 and dataset = $2 and state = 'running'`,
      [start.target, start.dataset, inEnglish(cutOff), JSON.stringify(cutOff)],
    );
    const made = await database.pool.query<{ id: number }>(
      `insert into import_run (target, dataset, origin, sha256, options, state, total, started_at, updated_at)
       values ($1, $2, $3, $4, $5, 'running', $6, now(), now()) returning id`,
      [
        start.target,
        start.dataset,
        start.origin,
        start.sha256,
        JSON.stringify(start.options),
        start.total ?? null,
      ],
    );
    return new Run(database, (made.rows[0] as { id: number }).id);
  }

  /** Writes at most once per second. A lost write does no harm. `total` is null if it is unknown. */
  progress(done: number, total: number | null = null): void {
    const now = performance.now();
    if (now - this.#told < 1_000) return;
    this.#told = now;
    this.#database.pool
      .query(
        `update import_run set done = $2, total = coalesce($3, total), updated_at = now()
          where id = $1 and state = 'running'`,
        [this.id, done, total],
      )
      .catch(() => {});
  }

  /**
   * Finishes the run on the connection of the switch, so that a run is marked as done exactly when its
   * records are served.
   */
  async finish(client: Pick<ClientBase, "query">, counts: RunCounts): Promise<void> {
    const { rows, records, badRows, passedOver, duplicateIds, publishers } = counts;
    await client.query(
      `update import_run set state = 'done', done = $2, total = $2, rows = $3, bad_rows = $4, passed_over = $5,
              duplicate_ids = $6, publishers = $7, message = null, said = null, updated_at = now() where id = $1`,
      [this.id, records, rows, badRows, passedOver, duplicateIds.map(storable), stored(publishers)],
    );
  }

  async fail(said: Message): Promise<void> {
    await this.#database.pool.query(
      `update import_run set state = 'failed', message = $2, said = $3, updated_at = now() where id = $1`,
      [this.id, storable(inEnglish(said)), stored(said)],
    );
  }
}

/** A message may quote a row, and PostgreSQL can store neither half a surrogate pair nor NUL. */
function stored(value: Message | readonly RunPublisher[]): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "string" ? storable(inner) : inner));
}

function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

export interface RunState {
  readonly id: number;
  readonly target: string;
  readonly dataset: string;
  readonly origin: string;
  readonly sha256: string;
  readonly options: RunOptions;
  readonly state: "running" | "done" | "failed";
  readonly done: number;
  readonly total: number | null;
  /** Null for a run from a version that did not count rows. */
  readonly rows: number | null;
  readonly bad_rows: number;
  readonly passed_over: number;
  readonly duplicate_ids: readonly string[];
  /** Null for a run from a version that did not store publishers. */
  readonly publishers: readonly RunPublisher[] | null;
  /** The message in English, even if this version does not know `said`. */
  readonly message: string | null;
  readonly said: Message | null;
  readonly updated_at: Date;
}

const columns = `id, target, dataset, origin, sha256, options, state, done, total, rows, bad_rows, passed_over,
  duplicate_ids, publishers, message, said, updated_at`;

/** Who published the records of a run, according to the records or the operator. Null if unknown. */
export function publisherOf({ options, publishers }: RunState): string | null {
  return publishers?.map(({ name }) => name).join("; ") || options.source;
}

export function licenceOf({ options, publishers }: RunState): string | null {
  const stated = new Set((publishers ?? []).flatMap(({ licence }) => licence ?? []));
  return [...stated].join("; ") || options.licence;
}

/** Who published what is served of a target, and since when any of it is here. */
export interface HeldFrom {
  readonly publishers: readonly string[];
  readonly since: Date | null;
}

/** By target. A target has at most twenty publishers here; rows may name thousands. */
export async function heldFrom(queries: Queries): Promise<ReadonlyMap<string, HeldFrom>> {
  const found = await queries.query<{ target: string; publishers: string[]; since: Date | null }>(
    `select d.target,
            (select min(r.updated_at) from import_run r
              where r.target = d.target and r.dataset = d.name and r.state = 'done') as since,
            array(select distinct p ->> 'name' from import_run r, jsonb_array_elements(coalesce(r.publishers, '[]')) p
                   where r.id = any(d.runs) order by 1 limit 20) as publishers
       from dataset d order by d.target, d.name`,
  );
  const held = new Map<string, HeldFrom>();
  for (const { target, publishers, since } of found.rows) {
    const before = held.get(target) ?? { publishers: [], since: null };
    const days = [before.since, since].filter((day) => day !== null).map(Number);
    held.set(target, {
      publishers: [...new Set([...before.publishers, ...publishers])].slice(0, 20),
      since: days.length === 0 ? null : new Date(Math.min(...days)),
    });
  }
  return held;
}

/** The last run of every data set. */
export async function lastRuns(queries: Queries): Promise<RunState[]> {
  const found = await queries.query<RunState>(
    `select distinct on (target, dataset) ${columns} from import_run order by target, dataset, id desc`,
  );
  return found.rows.map(runOf);
}

/** Finds runs, in the order of the IDs. */
export async function findRuns(database: Database, ids: readonly number[]): Promise<RunState[]> {
  const found = await database.pool.query<RunState>(
    `select ${columns} from import_run where id = any($1) order by id`,
    [ids],
  );
  return found.rows.map(runOf);
}

function runOf(row: RunState): RunState {
  return { ...row, options: { ...plainOptions, ...row.options }, said: readMessage(row.said) };
}

const cutOff = say("cut_off");
