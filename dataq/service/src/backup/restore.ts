import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { counted } from "@dataq/contract";
import type pg from "pg";
import { pepperFingerprint } from "../accounts/local-account.ts";
import { verifyBooks } from "../accounts/verify.ts";
import type { Database } from "../database/database.ts";
import { type Migration, migrate, unfinishedRestore } from "../database/migrations.ts";
import type { LedgerVerdict } from "../ledger/verify.ts";
import { copyIn } from "./copy.ts";
import {
  type Contents,
  contents,
  contentsName,
  jobs,
  type Manifest,
  manifest,
  manifestName,
  pieceBytes,
} from "./manifest.ts";
import { readTar, type TarFile } from "./tar.ts";

const decompress = promisify(zstdDecompress);

/** Pieces are smaller; the list of contents grows with their number. */
const LARGEST_FILE = 64 * 1_048_576;

export interface RestoreReport {
  readonly takenAt: Date;
  readonly rows: number;
  readonly covers: LedgerVerdict["covers"];
}

interface RestoreOptions {
  /** All migrations of this version. */
  readonly migrations: readonly Migration[];
  /** The secret that the restored service will have; undefined if it has none yet. */
  readonly secret: string | undefined;
  readonly progress: (line: string) => void;
}

/**
 * Restores a backup into an empty database. Until the ledger is verified, a mark in the database keeps services from
 * starting on it. If a restore was interrupted, the next one starts over.
 */
export async function restoreBackup(
  database: Database,
  path: string,
  options: RestoreOptions,
): Promise<RestoreReport> {
  const file = createReadStream(path, { highWaterMark: 1_048_576 });
  try {
    return await restoreFrom(database, path, readTar(file, LARGEST_FILE), options);
  } finally {
    file.destroy();
  }
}

async function restoreFrom(
  database: Database,
  path: string,
  files: AsyncGenerator<TarFile>,
  { migrations, secret, progress }: RestoreOptions,
): Promise<RestoreReport> {
  const first = await files.next();
  if (first.done || first.value.name !== manifestName) throw new Error(`${path} is not a backup of dataq.`);
  const about = readJson(manifest, first.value);
  assertKnown(about, migrations);
  assertSecret(about, secret);
  const owner = await database.connectAsOwner();
  try {
    await assertEmpty(owner, progress);
    const known = new Set(about.migrations);
    await migrate(database, [unfinishedRestore, ...migrations.filter(({ name }) => known.has(name))]);
    progress(`Restoring the backup of ${about.taken_at} (dataq ${about.version}) …`);
    await owner.query("begin");
    const loaded = await load(owner, about, files, progress);
    await owner.query("commit");
    // First, because the laws of this version read its own tables, of which an older backup has fewer.
    await migrate(database, [unfinishedRestore, ...migrations]);
    progress("Verifying the ledger …");
    await owner.query("analyze");
    const { findings, covers } = await verifyBooks(database);
    const broken = findings.filter(({ breaches }) => breaches.length > 0);
    if (broken.length > 0)
      throw new Error(
        `The ledger of this backup is broken, so no service starts on this database: ${broken.map(({ law, breaches }) => `${law} ${breaches.join(", ")}`).join("; ")}`,
      );
    await owner.query("begin");
    await ownNoTables(owner);
    await owner.query("delete from migration where name = $1", [unfinishedRestore.name]);
    await owner.query("commit");
    return { takenAt: new Date(about.taken_at), rows: loaded, covers };
  } finally {
    // What is not committed is undone.
    await owner.end();
  }
}

function readJson<Value>(shape: { parse(value: unknown): Value }, { name, bytes }: TarFile): Value {
  try {
    return shape.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new Error(`The backup is damaged, or a newer dataq made it: ${name} cannot be read.`, { cause });
  }
}

function assertKnown(about: Manifest, migrations: readonly Migration[]): void {
  const own = new Set(migrations.map(({ name }) => name));
  const unknown = about.migrations.find((name) => !own.has(name));
  if (unknown !== undefined)
    throw new Error(
      `The backup was made by a newer dataq (${about.version}): this version does not know the migration ${unknown}. Restore it with dataq ${about.version} or newer.`,
    );
}

function assertSecret({ pepper }: Manifest, secret: string | undefined): void {
  if (pepper === null || (secret !== undefined && pepperFingerprint(secret).toString("hex") === pepper))
    return;
  throw new Error(
    `${secret === undefined ? "The keys in this backup need the secret of the service that was backed up." : "The keys in this backup were made with another secret."} Copy the file "secret" from the data folder of that service into this data folder, or set DATAQ_SECRET to it.`,
  );
}

/** Throws if the database has tables, unless an unfinished restore made them: then it removes them. */
async function assertEmpty(owner: pg.ClientBase, progress: (line: string) => void): Promise<void> {
  const found = await owner.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm') and n.nspname not in ('pg_catalog', 'information_schema', 'graphile_worker')
       and n.nspname not like 'pg\\_%' order by c.relname = 'migration' desc, 1 limit 1`,
  );
  const table = found.rows[0]?.name;
  if (table === undefined) return;
  const isUnfinished =
    table === "public.migration" &&
    (await owner.query("select from migration where name = $1", [unfinishedRestore.name])).rowCount === 1;
  if (!isUnfinished)
    throw new Error(
      `The database is not empty: it has the table ${table}. Restore into a new data folder (DATAQ_DATA) or a new database (DATABASE_URL).`,
    );
  progress("An earlier restore into this database did not finish. Starting over …");
  await owner.query(`begin; drop schema if exists people cascade; drop schema if exists graphile_worker cascade;
    drop schema public cascade; create schema public; commit`);
}

/** Loads all tables, in the order of the backup. Returns the number of rows. */
async function load(
  owner: pg.ClientBase,
  about: Manifest,
  files: AsyncGenerator<TarFile>,
  progress: (line: string) => void,
): Promise<number> {
  const seen: Contents = { rows: {}, pieces: {} };
  let next = await files.next();
  for (const { name, columns } of about.tables) {
    const folder = `${name.replaceAll('"', "")}/`;
    const pieces = async function* () {
      for (; !next.done && next.value.name.startsWith(folder); next = await files.next()) {
        seen.pieces[next.value.name] = createHash("sha256").update(next.value.bytes).digest("hex");
        yield await decompress(next.value.bytes, { maxOutputLength: pieceBytes });
      }
    };
    seen.rows[name] = await (name === jobs.name
      ? loadJobs(owner, pieces())
      : loadTable(owner, name, columns, pieces()));
    if (seen.rows[name]! > 0) progress(`${name}: ${counted(seen.rows[name]!, "row")}`);
  }
  for (const { name, value } of about.sequences)
    await owner.query("select setval($1::regclass, $2)", [name, value]);
  if (next.done || next.value.name !== contentsName)
    throw new Error("The backup is incomplete: its list of contents is missing.");
  assertSame(readJson(contents, next.value), seen);
  // Reads the end of the archive.
  if (!(await files.next()).done)
    throw new Error("The backup is damaged: files follow its list of contents.");
  return Object.values(seen.rows).reduce((sum, rows) => sum + rows, 0);
}

async function loadTable(
  owner: pg.ClientBase,
  name: string,
  columns: readonly string[],
  pieces: AsyncIterable<Buffer>,
): Promise<number> {
  // The triggers would tell customers again what happened long ago.
  await owner.query(`alter table ${name} disable trigger user`);
  const list = columns.map((column) => `"${column.replaceAll('"', '""')}"`).join(", ");
  const rows = await copyIn(owner, `copy ${name} (${list}) from stdin`, pieces);
  await owner.query(`alter table ${name} enable trigger user`);
  return rows;
}

/**
 * All postings and documents were loaded into the shared tables, and builds with tables of their own that were not
 * complete were left out.
 */
async function ownNoTables(owner: pg.ClientBase): Promise<void> {
  const unfinished = await owner.query<{ id: number }>(
    "select id from search_segment where own_tables is not null and not is_ready",
  );
  const ids = [unfinished.rows.map(({ id }) => id)];
  await owner.query("delete from search_posting where segment = any($1)", ids);
  await owner.query("delete from search_document where segment = any($1)", ids);
  await owner.query("delete from search_segment where id = any($1)", ids);
  await owner.query("update search_segment set own_tables = null where own_tables is not null");
}

async function loadJobs(owner: pg.ClientBase, pieces: AsyncIterable<Buffer>): Promise<number> {
  await owner.query(
    `create temp table ordered_job (identifier text, payload json, run_at timestamptz, max_attempts int, key text,
       priority int, flags text[]) on commit drop`,
  );
  const rows = await copyIn(owner, `copy ordered_job (${jobs.columns.join(", ")}) from stdin`, pieces);
  await owner.query(
    `select graphile_worker.add_job(identifier, payload, run_at => run_at, max_attempts => max_attempts, job_key => key,
       priority => priority, flags => flags) from ordered_job`,
  );
  return rows;
}

function assertSame(stated: Contents, seen: Contents): void {
  for (const [what, left, right] of [
    ["piece", stated.pieces, seen.pieces],
    ["table", stated.rows, seen.rows],
  ] as const)
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)]))
      if (left[name] !== right[name])
        throw new Error(
          `The backup is damaged: the ${what} ${name} does not match its checksum or its count. Use another backup.`,
        );
}
