import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrations.ts";
import { serversAt } from "./servers.ts";

let folder: string;
let database: Database;
const lines: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dataq-database-"));
  database = await openDatabase({ folder, progress: (line) => lines.push(line) });
}, 60_000);

afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

test("what is committed is on the disk: fsync and related settings are on", async () => {
  const found = await database.pool.query(
    "select current_setting('fsync') f, current_setting('synchronous_commit') s, current_setting('full_page_writes') w",
  );
  expect(found.rows).toEqual([{ f: "on", s: "on", w: "on" }]);
});

test("no network port is opened", async () => {
  const found = await database.pool.query("select current_setting('listen_addresses') as addresses");
  expect(found.rows).toEqual([{ addresses: "" }]);
});

test("bigints are numbers, dates are strings, and a bigint that a number cannot hold is refused", async () => {
  const found = await database.pool.query("select 2000000::bigint as n, date '2024-02-29' as day");
  expect(found.rows).toEqual([{ n: 2_000_000, day: "2024-02-29" }]);
  await expect(database.pool.query("select 9007199254740993::bigint as n")).rejects.toThrow(RangeError);
});

test("a second process joins the same server, and does not stop it when it leaves", async () => {
  const second = await openDatabase({ folder, progress: () => {} });
  const ask = "select pg_postmaster_start_time()::text as started";
  expect((await second.pool.query(ask)).rows).toEqual((await database.pool.query(ask)).rows);
  await second.close();
  expect((await database.pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("migrations run once, in order, and a changed text is refused", async () => {
  const first = { name: "test/1-one", up: "create table one (id int)" };
  const second = {
    name: "test/2-two",
    up: "alter table one add column name text; insert into one values (1, 'a')",
  };
  expect(await migrate(database, [first])).toEqual(["test/1-one"]);
  expect(await migrate(database, [first, second])).toEqual(["test/2-two"]);
  expect(await migrate(database, [first, second])).toEqual([]);
  await expect(migrate(database, [{ ...first, up: "select 1" }, second])).rejects.toThrow("test/1-one");
});

test("an older version starts on what newer ones only added, and refuses by name what they removed", async () => {
  const added = { name: "test/8-added", up: "alter table one add column more text" };
  const removed = {
    name: "test/9-removed",
    up: "alter table one drop column more",
    contract: { oldest: "2.10.0" },
  };
  expect(await migrate(database, [...known.slice(0, 2), added], "2.10.0")).toEqual(["test/8-added"]);
  expect(await migrate(database, known.slice(0, 2), "2.9.0")).toEqual([]);
  expect(await migrate(database, [...known.slice(0, 2), added, removed], "2.11.1")).toEqual([
    "test/9-removed",
  ]);
  expect(await migrate(database, known.slice(0, 2), "2.10.0")).toEqual([]);
  await expect(migrate(database, known.slice(0, 2), "2.9.9")).rejects.toThrow(
    "A newer dataq (2.11.1) changed this database (migration test/9-removed), and versions before 2.10.0 cannot use it. This is dataq 2.9.9. Start dataq 2.11.1 or newer, or restore a backup from before that change.",
  );
  // A step from before versions were noted.
  const owner = await database.connectAsOwner();
  await owner.query("insert into migration (name, sha256) values ('test/7-old', '')");
  await expect(migrate(database, known.slice(0, 2), "3.0.0")).rejects.toThrow("migration test/7-old");
  await owner.query("delete from migration where name in ('test/7-old', 'test/8-added', 'test/9-removed')");
  await owner.end();
});

test("a migration that fails leaves nothing behind", async () => {
  const broken = { name: "test/3-broken", up: "create table three (id int); select nothing_there" };
  await expect(migrate(database, [...known.slice(0, 2), broken])).rejects.toThrow("nothing_there");
  expect((await database.pool.query("select to_regclass('three') as found")).rows).toEqual([{ found: null }]);
});

const known = [
  { name: "test/1-one", up: "create table one (id int)" },
  { name: "test/2-two", up: "alter table one add column name text; insert into one values (1, 'a')" },
  { name: "test/4-four", up: "create table four (id int)" },
];

test("services that start simultaneously on one database migrate it only once", async () => {
  const results = await Promise.all([1, 2, 3, 4].map(() => migrate(database, known)));
  expect(results.flat()).toEqual(["test/4-four"]);
});

test("a timeout while waiting for a connection, and a connection lost during a query, have error codes", async () => {
  const narrow = await openDatabase({ folder, progress: () => {}, poolSize: 1 });
  try {
    const only = await narrow.pool.connect();
    // The only connection is never released, so any wait is too long.
    const patience = narrow.pool.options.connectionTimeoutMillis;
    narrow.pool.options.connectionTimeoutMillis = 1;
    await expect(narrow.pool.query("select 1")).rejects.toMatchObject({ code: "ETIMEDOUT" });
    await expect(narrow.pool.connect()).rejects.toMatchObject({ code: "ETIMEDOUT" });
    narrow.pool.options.connectionTimeoutMillis = patience;
    const { pid } = (await only.query("select pg_backend_pid() as pid")).rows[0];
    const asked = only.query("select pg_sleep(60)").catch((error: unknown) => error);
    await database.pool.query("select pg_terminate_backend($1)", [pid]);
    expect(await asked).toMatchObject({ code: "57P01" });
    // The connection was in use when it was lost, so only this query fails.
    await expect(only.query("select 1")).rejects.toMatchObject({ code: "ECONNRESET" });
    only.release(true);
    expect((await narrow.pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await expect(narrow.pool.query("selec")).rejects.toMatchObject({ code: "42601" });
  } finally {
    await narrow.close();
  }
  for (const asked of [() => narrow.pool.query("select 1"), () => narrow.pool.connect()])
    expect(await asked().catch((error: unknown) => error)).not.toHaveProperty("code");
});

test("a server that accepts a connection and says nothing is a timeout with a code, also without a pool", async () => {
  const silent = createServer((socket) => socket.on("error", () => {}));
  const port = await new Promise<number>((resolve) => {
    silent.listen(0, "127.0.0.1", () => resolve((silent.address() as AddressInfo).port));
  });
  try {
    const { Client } = serversAt(`postgresql://dataq@127.0.0.1:${port}/dataq`, { variable: "DATABASE_URL" });
    const client = new Client({ connectionTimeoutMillis: 20 });
    await expect(client.connect()).rejects.toMatchObject({ code: "ETIMEDOUT" });
  } finally {
    silent.close();
  }
});

test("the role that serves cannot pass a trigger, change a table, or use the server's files", async () => {
  const log = {
    name: "test/5-log",
    up: "create table log (text text); comment on table log is 'append-only'; create table note (text text)",
  };
  await migrate(database, [...known, log]);
  await database.query("insert into log values ('kept')");
  await database.query("insert into note values ('changed'); update note set text = 'new'; delete from note");
  for (const statement of [
    "update log set text = 'changed'",
    "delete from log",
    "truncate log",
    "truncate note",
    "drop table note",
    "alter table log disable trigger all",
    "create table other (id int)",
    "create function f() returns int language sql as 'select 1'",
    "delete from migration",
    "set session_replication_role = replica",
    "set role dataq",
    "set session authorization dataq",
    "alter role dataq_service superuser",
    "create role another superuser",
    "alter system set fsync = off",
    "select pg_read_file('PG_VERSION')",
    "copy note from program 'echo x'",
    "copy note to '/tmp/note'",
    "create extension dblink",
  ])
    await expect(database.query(statement), statement).rejects.toMatchObject({
      code: expect.stringMatching(/^(42501|0LP01|58P01|0A000)$/),
    });
  expect((await database.query("select text from log")).rows).toEqual([{ text: "kept" }]);
});

test("a data folder from before the role existed gets the role at the next start and keeps its data", async () => {
  const old = mkdtempSync(join(tmpdir(), "dataq-database-old-"));
  try {
    const before = await openDatabase({ folder: old, progress: () => {} });
    await migrate(before, known);
    const owner = await before.connectAsOwner();
    await before.query("insert into one values (7)");
    await owner.query("drop owned by dataq_service; drop role dataq_service");
    await owner.end();
    await before.close();

    // Several processes may start at once.
    const opened = await Promise.all([1, 2, 3].map(() => openDatabase({ folder: old, progress: () => {} })));
    for (const one of opened) {
      expect((await one.query("select id, current_user as role from one where id = 7")).rows).toEqual([
        { id: 7, role: "dataq_service" },
      ]);
      await expect(one.query("set session_replication_role = replica")).rejects.toMatchObject({
        code: "42501",
      });
    }
    await Promise.all(opened.map((one) => one.close()));
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}, 60_000);

test("a server that is killed while in use is started again, as soon as it can; each obstacle is reported once", async () => {
  const owner = await database.connectAsOwner();
  const found = await owner.query<{ pid: number }>(
    "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid",
  );
  await owner.end();
  lines.length = 0;
  process.kill(found.rows[0]!.pid, "SIGKILL");
  renameSync(folder, `${folder}-away`);
  await expect.poll(() => lines, { timeout: 80_000 }).toHaveLength(2);
  renameSync(`${folder}-away`, folder);
  await expect
    .poll(
      () =>
        database.pool.query("select 1 as one").then(
          ({ rows }) => rows,
          () => "away",
        ),
      { timeout: 80_000 },
    )
    .toEqual([{ one: 1 }]);
  await expect.poll(() => lines.at(-1), { timeout: 80_000 }).toBe("The database is running again.");
  expect(lines).toEqual([
    "The database has stopped. Restarting it …",
    expect.stringMatching(/^The database cannot start; trying again: ENOENT/),
    "The database is running again.",
  ]);
}, 250_000);
