import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import { createAccount } from "../accounts/account.ts";
import { openIdentity } from "../accounts/local-account.ts";
import { type Database, openDatabase } from "../database/database.ts";
import { migrate } from "../database/migrations.ts";
import { inTransaction } from "../database/transaction.ts";
import { charge, hold } from "../ledger/hold.ts";
import { topUp } from "../ledger/movement.ts";
import { sealEntries } from "../ledger/seal.ts";
import { migrations } from "../schema.ts";
import { writeBackup } from "./backup.ts";
import { restoreBackup } from "./restore.ts";
import { readTar, tarEnd, tarEntry } from "./tar.ts";

const now = new Date("2026-05-01T03:04:05.678Z");
const secret = "a secret of the test";
let folder: string;
let sourceFolder: string;
let source: Database;
let accountId: string;
const quiet = { migrations, secret, progress: () => {} };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dataq-backup-"));
  sourceFolder = await makeDataFolder("tables");
  source = await openFolder(sourceFolder);
  await openIdentity(source, sourceFolder, secret, now);
  const author = { actor: "test", now };
  await source.query("insert into price values ('legal_laws', 1, 100, 100, 'epoch', 'test')");
  accountId = await inTransaction(source, async (transaction) => {
    const { id } = await createAccount(
      transaction,
      { name: "Tab\t\\. \\N\r\n'quoted' 数据\u{1F4BE}", role: "customer", tier: "standard" },
      author,
    );
    return id;
  });
  await topUp(source, accountId, 1_000_000, "pay", { ...author, note: "\\.\n\t" });
  for (let n = 0; n < 50; n++) await charge(source, callOf(`charged ${n}`));
  await hold(source, callOf("open"));
  await sealEntries(source, now);
  // Every byte, in a value that is longer than a piece.
  await source.query(
    `insert into search_segment (corpus, dataset, analysis) values ('c', 'd', 'a');
     insert into search_document (segment, ordinal, id, body) values (1, 0, 'x', decode(repeat('00ff0a5c09', 1500000), 'hex'))`,
  );
  // A partition, as a large build makes it, and one of a build that is not complete.
  const owner = await source.connectAsOwner();
  await owner.query(`
    insert into search_segment (corpus, dataset, analysis, is_ready, own_tables) values ('c', 'd', 'a', true, 2), ('c', 'd', 'a', false, 3);
    create table search_document_of_2 (like search_document including all);
    alter table search_document attach partition search_document_of_2 for values in (2);
    create table search_document_of_3 (like search_document including all);
    insert into search_document values (2, 0, 'own', '\\x01');
    insert into search_document_of_3 values (3, 0, 'lost', '\\x01')`);
  await owner.end();
  await source.query(`insert into webhook (id, account_id, url, events, enabled, secret, created_at)
    values ('wh', '${accountId}', 'http://127.0.0.1:1', '{ping}', true, '\\x00', now());
    select webhook_send('${accountId}', 'ping', '', '{}', now())`);
}, 60_000);
afterAll(async () => {
  await source?.close();
  await removeDataFolder(sourceFolder);
  rmSync(folder, { recursive: true, force: true });
});

function callOf(requestId: string) {
  return {
    requestId,
    accountId,
    keyId: "key",
    operation: "legal_laws",
    tokens: 100,
    priceVersion: 1,
    cached: false,
    instanceId: 0,
    now,
    deadline: now,
  };
}

/** A digest of every table that a backup contains. */
async function digests(database: Database): Promise<Record<string, string>> {
  const owner = await database.connectAsOwner();
  try {
    const tables = await owner.query<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p' and n.nspname in ('public', 'people')
         and c.relname not in ('migration', 'verified', 'verification', 'webhook_worker', 'search_segment', 'search_engine')
         and c.relname not like '%\\_of\\_%'`,
    );
    const found: Record<string, string> = {};
    for (const { name } of tables.rows) {
      const rows = await owner.query<{ digest: string }>(
        `select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as digest from ${name} t`,
      );
      found[name] = rows.rows[0]!.digest;
    }
    const queued = await owner.query<{ job: string }>(
      `select t.identifier || ' ' || j.key || ' ' || j.payload::text || ' ' || j.flags::text as job
       from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id`,
    );
    found["jobs"] = queued.rows.map(({ job }) => job).join();
    return found;
  } finally {
    await owner.end();
  }
}

type Files = { name: string; bytes: Buffer }[];

/** Damaged archives, by what the error says. */
const damages: Record<string, (whole: Buffer) => Buffer | Promise<Buffer>> = {
  "is not a backup of dataq": () => Buffer.from("a text that is longer than a block. ".repeat(30)),
  "the file ends too early": (whole) => whole.subarray(0, whole.length - 2_000),
  "its list of contents is missing": rewritten((files) => files.slice(0, -1)),
  "the piece public.entry/000001.copy.zst does not match": rewritten((files) =>
    files.map((file) =>
      file.name.startsWith("public.entry/") ? { ...file, bytes: zstdCompressSync(Buffer.alloc(0)) } : file,
    ),
  ),
};

function rewritten(change: (files: Files) => Files) {
  return async (whole: Buffer) => {
    const files: Files = [];
    for await (const file of readTar(oneChunk(whole), 1e8)) files.push(file);
    return Buffer.concat([...change(files).map((file) => tarEntry(file, now)), tarEnd]);
  };
}

test("a restored database has every row, job and sequence of the moment of the backup, and its books hold; a damaged backup is refused", async () => {
  const path = join(folder, "one.tar");
  const before = await digests(source);
  const lines: string[] = [];
  const writing = writeBackup(source, path, now, (line) => {
    // What comes after the backup's moment is not in it.
    if (lines.push(line) === 1) void charge(source, callOf("later"));
  });
  expect((await writing).takenAt).toEqual(now);
  expect(lines).toContainEqual(expect.stringMatching(/^public\.entry: 104 rows, /));
  await expect(writeBackup(source, path, now, () => {})).rejects.toThrow("already exists");
  await expect(writeBackup(source, join(folder, "none", "one.tar"), now, () => {})).rejects.toThrow(
    `The folder ${join(folder, "none")} does not exist.`,
  );

  const target = await openDatabase({ folder: join(folder, "target"), progress: () => {} });
  try {
    // Nothing is changed before everything was checked.
    await expect(restoreBackup(target, path, { ...quiet, secret: undefined })).rejects.toThrow(
      "DATAQ_SECRET",
    );
    await expect(restoreBackup(target, path, { ...quiet, secret: "another one" })).rejects.toThrow(
      "were made with another secret",
    );
    const older = migrations.filter(({ name }) => name !== "query/4-usage");
    await expect(restoreBackup(target, path, { ...quiet, migrations: older })).rejects.toThrow(
      /made by a newer dataq \(\d.*does not know the migration query\/4-usage/,
    );
    for (const [what, damage] of Object.entries(damages)) {
      const damaged = join(folder, "damaged.tar");
      writeFileSync(damaged, await damage(readFileSync(path)));
      await expect(restoreBackup(target, damaged, quiet), what).rejects.toThrow(what);
    }
    // An interrupted restore leaves nothing but a mark, with which no version starts; the next one starts over.
    expect((await target.query("select from entry")).rowCount).toBe(0);
    await expect(migrate(target, migrations)).rejects.toThrow('Run "dataq restore" again');
    const report = await restoreBackup(target, path, quiet);
    expect(report.covers).toMatchObject({ whole: true, entries: 104 });
    expect(await digests(target)).toEqual(before);
    // Both may use one OpenSearch, where each removes only the indices of its own name.
    const engine = async (database: Database) => (await database.query("select id from search_engine")).rows;
    expect(await engine(target)).toHaveLength(1);
    expect(await engine(target)).not.toEqual(await engine(source));
    expect((await target.query("select id, own_tables from search_segment order by id")).rows).toEqual([
      { id: 1, own_tables: null },
      { id: 2, own_tables: null },
    ]);
    expect(await migrate(target, migrations)).toEqual([]);
    await openIdentity(target, join(folder, "target"), secret, now);
    // New rows get new numbers, and the triggers work again.
    expect(
      (
        await target.query(
          "insert into audit (at, actor, action, target) values (now(), 'a', 'b', 'c') returning id",
        )
      ).rows,
    ).not.toEqual([{ id: 1 }]);
    const owner = await target.connectAsOwner();
    await expect(owner.query("delete from entry")).rejects.toThrow("never changed");
    await owner.end();
    await expect(restoreBackup(target, path, quiet)).rejects.toThrow(
      "The database is not empty: it has the table public.migration.",
    );
  } finally {
    await target.close();
  }
}, 60_000);

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

test("a backup fails cleanly if the database goes away, and is an archive that tar can list", async () => {
  const path = join(folder, "three.tar");
  const terminate = async () => {
    const owner = await source.connectAsOwner();
    await owner.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and (state like '%transaction%' or query like 'copy%')",
    );
    await owner.end();
  };
  let terminated: Promise<void> | undefined;
  const lost = writeBackup(source, path, now, () => {
    terminated ??= terminate();
  });
  await lost.then(
    () => rmSync(path),
    () => expect(existsSync(path)).toBe(false),
  );
  // The connection of the next backup must not be the one that is terminated.
  await terminated;
  expect(existsSync(`${path}.partial`)).toBe(false);
  await writeBackup(source, path, now, () => {});
  const listed = spawn("tar", ["tf", path]);
  let names = "";
  for await (const chunk of listed.stdout) names += chunk;
  expect(names).toMatch(/^manifest\.json\n(.|\n)*public\.entry\/000001\.copy\.zst\n(.|\n)*contents\.json\n$/);
}, 60_000);
