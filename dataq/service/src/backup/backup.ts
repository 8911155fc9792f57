import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { zstdCompress } from "node:zlib";
import { counted } from "@dataq/contract";
import type pg from "pg";
import type { Database } from "../database/database.ts";
import { ownVersion } from "../database/migrations.ts";
import { copyOut } from "./copy.ts";
import { type Contents, contentsName, jobs, type Manifest, manifestName, pieceBytes } from "./manifest.ts";
import { tarEnd, tarEntry } from "./tar.ts";

const compress = promisify(zstdCompress);

export interface BackupReport {
  readonly takenAt: Date;
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
}

/** Compressed bytes between two progress lines of a large table. */
const TELL_EVERY_BYTES = 256 * 1_048_576;

/**
 * Writes a backup to `path`: every table that cannot be made again, as of one moment (one snapshot). Services go on
 * meanwhile. The file has its name only when it is complete and on disk.
 */
export async function writeBackup(
  database: Database,
  path: string,
  now: Date,
  progress: (line: string) => void,
): Promise<BackupReport> {
  if (existsSync(path)) throw new Error(`${path} already exists. Choose another name, or delete the file.`);
  if (!existsSync(dirname(path)))
    throw new Error(`The folder ${dirname(path)} does not exist. Create it first.`);
  const partial = `${path}.partial`;
  const file = await open(partial, "w", 0o600);
  const client = await database.connectAsOwner();
  let bytes = 0;
  const add = async (name: string, content: Buffer) => {
    const entry = tarEntry({ name, bytes: content }, now);
    await file.write(entry);
    bytes += entry.length;
  };
  try {
    await client.query("begin isolation level repeatable read read only");
    const about = await describe(client, now);
    await add(manifestName, Buffer.from(`${JSON.stringify(about, null, 1)}\n`));
    const contents: Contents = { rows: {}, pieces: {} };
    for (const { name, columns } of about.tables) {
      const list = columns.map(quoted).join(", ");
      const source = name === jobs.name ? PENDING_JOBS : `select ${list} from ${name}`;
      const copied = copyOut(client, `copy (${source}) to stdout`, pieceBytes);
      const before = bytes;
      let told = bytes;
      for (let piece = 1; ; piece++) {
        const next = await copied.next();
        if (next.done) {
          contents.rows[name] = next.value;
          break;
        }
        const pieceName = `${name.replaceAll('"', "")}/${String(piece).padStart(6, "0")}.copy.zst`;
        const packed = await compress(next.value);
        contents.pieces[pieceName] = createHash("sha256").update(packed).digest("hex");
        await add(pieceName, packed);
        if (bytes - told < TELL_EVERY_BYTES) continue;
        told = bytes;
        progress(`${name}: ${megabytes(bytes - before)} so far …`);
      }
      if (contents.rows[name]! > 0)
        progress(`${name}: ${counted(contents.rows[name]!, "row")}, ${megabytes(bytes - before)}`);
    }
    await client.query("commit");
    await add(contentsName, Buffer.from(`${JSON.stringify(contents, null, 1)}\n`));
    await file.write(tarEnd);
    await file.sync();
    await file.close();
    await rename(partial, path);
    await syncFolder(dirname(path));
    const rows = Object.values(contents.rows).reduce((sum, n) => sum + n, 0);
    return { takenAt: now, tables: about.tables.length, rows, bytes };
  } catch (error) {
    await file.close().catch(() => {});
    await rm(partial, { force: true });
    throw error;
  } finally {
    await client.end();
  }
}

/** The rename is durable only when the folder is on disk. Windows cannot open a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

/** "12.3 MB" */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

async function describe(client: pg.ClientBase, now: Date): Promise<Manifest> {
  const migrations = await client.query<{ name: string }>("select name from migration order by name");
  const pepper = await client.query<{ sha256: Buffer }>("select sha256 from pepper limit 1");
  const sequences = await client.query<{ name: string; value: number }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value as value from pg_sequences
     where last_value is not null and schemaname not in ('graphile_worker') order by 1`,
  );
  const postgres = await client.query<{ version: string }>(
    "select current_setting('server_version') as version",
  );
  return {
    format: 1,
    version: ownVersion,
    taken_at: now.toISOString(),
    postgres: postgres.rows[0]!.version,
    migrations: migrations.rows.map(({ name }) => name),
    pepper: pepper.rows[0]?.sha256.toString("hex") ?? null,
    tables: [...(await listTables(client)), jobs],
    sequences: sequences.rows,
  };
}

/**
 * The tables with their columns, those that others refer to first. Unlogged tables are caches and limits, which a crash
 * empties too. Partitions are read through their table. Tables of an unfinished build of the search index are left out,
 * because the build starts over. The table of migrations is in the manifest, the workers of the queue belong to running
 * services, and each database has its own name at OpenSearch.
 */
async function listTables(client: pg.ClientBase): Promise<{ name: string; columns: string[] }[]> {
  const found = await client.query<{ id: number; name: string; columns: string[]; refers_to: number[] }>(
    `select c.oid::int as id, format('%I.%I', n.nspname, c.relname) as name,
       array(select attname::text from pg_attribute
             where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
       array(select confrelid::int from pg_constraint where conrelid = c.oid and contype = 'f' and confrelid <> c.oid) as refers_to
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p'
       and c.relname !~ '^search_(posting|document)_of_[0-9]+$'
       and n.nspname not in ('pg_catalog', 'information_schema', 'graphile_worker')
       and c.relname not in ('migration', 'webhook_worker', 'search_engine') order by 2`,
  );
  const sorted: typeof found.rows = [];
  const done = new Set<number>();
  while (sorted.length < found.rows.length) {
    const next = found.rows.filter(
      ({ id, refers_to }) => !done.has(id) && refers_to.every((other) => done.has(other)),
    );
    if (next.length === 0) throw new Error("The tables refer to each other in a circle.");
    for (const table of next) done.add(table.id);
    sorted.push(...next);
  }
  return sorted.map(({ name, columns }) => ({ name, columns }));
}

const PENDING_JOBS = `select t.identifier, j.payload, j.run_at, j.max_attempts, j.key, j.priority,
  array(select jsonb_object_keys(coalesce(j.flags, '{}'))) as flags
  from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id where j.attempts < j.max_attempts`;

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
