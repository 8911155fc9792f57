import type { Database } from "../database/database.ts";
import type { Migration } from "../database/migrations.ts";
import { inEnglish, type Message, readMessage, say } from "./message.ts";

/** What was imported, what is being built, and how far: for people, for `/v1/status`, and to know a file again. */
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
    // Beside its English, so that it can be told in other languages.
    up: "alter table import_run add column said jsonb",
  },
];

export interface RunStart {
  readonly target: string;
  readonly dataset: string;
  readonly origin: string;
  readonly sha256: string;
  readonly total?: number;
}

/** One run of an import or a build, written down as it goes. */
export class Run {
  readonly #database: Database;
  readonly #id: number;
  #told = 0;

  private constructor(database: Database, id: number) {
    this.#database = database;
    this.#id = id;
  }

  static async start(database: Database, start: RunStart): Promise<Run> {
    // What a killed process left as running is over.
    await database.pool.query(
      `update import_run set state = 'failed', message = $3, said = $4
        where target = $1 and dataset = $2 and state = 'running'`,
      [start.target, start.dataset, inEnglish(cutOff), JSON.stringify(cutOff)],
    );
    const made = await database.pool.query<{ id: number }>(
      `insert into import_run (target, dataset, origin, sha256, state, total, started_at, updated_at)
       values ($1, $2, $3, $4, 'running', $5, now(), now()) returning id`,
      [start.target, start.dataset, start.origin, start.sha256, start.total ?? null],
    );
    return new Run(database, (made.rows[0] as { id: number }).id);
  }

  /** At most one write a second; a lost one does no harm. `total` is as good as it is known, null where it is not. */
  progress(done: number, total: number | null = null): void {
    const now = performance.now();
    if (now - this.#told < 1_000) return;
    this.#told = now;
    this.#write("running", done, total, 0, null).catch(() => {});
  }

  async finish(state: "done" | "failed", done: number, badRows: number, said: Message | null): Promise<void> {
    await this.#write(state, done, state === "done" ? done : null, badRows, said);
  }

  async #write(
    state: string,
    done: number,
    total: number | null,
    badRows: number,
    said: Message | null,
  ): Promise<void> {
    await this.#database.pool.query(
      `update import_run set state = $2, done = $3, total = coalesce($4, total), bad_rows = $5, message = $6,
              said = $7, updated_at = now() where id = $1`,
      [this.#id, state, done, total, badRows, said && storable(inEnglish(said)), said && stored(said)],
    );
  }
}

/** A message may quote a row, and a database takes neither half a code point nor a NUL. */
function stored(said: Message): string {
  return JSON.stringify(said, (_, value: unknown) => (typeof value === "string" ? storable(value) : value));
}

function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** Whether this very file is what the dataset holds. */
export async function isImported(
  database: Database,
  target: string,
  dataset: string,
  sha256: string,
): Promise<boolean> {
  const found = await database.pool.query<{ sha256: string }>(
    "select sha256 from import_run where target = $1 and dataset = $2 and state = 'done' order by id desc limit 1",
    [target, dataset],
  );
  return found.rows[0]?.sha256 === sha256;
}

export interface RunState {
  readonly target: string;
  readonly dataset: string;
  readonly origin: string;
  readonly state: "running" | "done" | "failed";
  readonly done: number;
  readonly total: number | null;
  readonly bad_rows: number;
  /** In English, also where `said` is of another version. */
  readonly message: string | null;
  readonly said: Message | null;
  readonly updated_at: Date;
}

/** The last run of every dataset. */
export async function lastRuns(database: Database): Promise<RunState[]> {
  const found = await database.pool.query<RunState>(
    `select distinct on (target, dataset) target, dataset, origin, state, done, total, bad_rows, message, said, updated_at
       from import_run order by target, dataset, id desc`,
  );
  return found.rows.map((run) => ({ ...run, said: readMessage(run.said) }));
}

const cutOff = say("cut_off");
