import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Database, openDatabase } from "./database/database.ts";
import { compareVersions, migrate, ownVersion } from "./database/migrations.ts";
import { charge, hold } from "./ledger/hold.ts";
import { topUp } from "./ledger/movement.ts";
import { sealEntries } from "./ledger/seal.ts";
import { settle } from "./ledger/settlement.ts";
import { verifyLedger } from "./ledger/verify.ts";
import { RequestLog } from "./query/request-log.ts";
import { readUsage } from "./query/usage.ts";
import { sumNewUsage } from "./query/usage-sums.ts";
import { migrations } from "./schema.ts";

/** A release: its migrations with their digests, and the statements that move tokens and log calls. */
interface Release {
  readonly version: string;
  readonly migrations: Readonly<Record<string, string>>;
  readonly statements: Readonly<
    Record<"hold" | "charge" | "settle" | "reverse" | "top_up" | "open_wallet" | "log" | "usage", string>
  >;
}

const folder = new URL("../test/releases/", import.meta.url);
const releases = readdirSync(folder)
  .filter((name) => /^[\d.]+\.json$/.test(name))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Release)
  .sort((a, b) => compareVersions(a.version, b.version));
const newest = releases.at(-1)!;

test("a released migration is never changed or removed", () => {
  const digests = new Map(
    migrations.map(({ name, up }) => [
      name,
      createHash("sha256")
        .update(typeof up === "string" ? up : name)
        .digest("hex"),
    ]),
  );
  for (const release of releases)
    for (const [name, sha256] of Object.entries(release.migrations))
      expect([name, digests.get(name)]).toEqual([name, sha256]);
});

test("two migrations of a folder have no number in common", () => {
  // Databases remember the names of the migrations that they have, so that these two keep theirs.
  const kept = ["search/5-vector-blocks", "search/5-partitions"];
  const numbers = migrations
    .map(({ name }) => name)
    .filter((name) => !kept.includes(name))
    .map((name) => name.replace(/-.*/, ""));
  expect(numbers.filter((number, place) => numbers.indexOf(number) !== place)).toEqual([]);
  expect(numbers).not.toContain("search/5");
});

/** What takes something away from a version that does not know the migration, or makes its writes fail. */
const takesAway =
  /\b(drop\s+(table|column|function|index|view|type|default|schema|constraint|trigger)|rename|truncate|revoke|set\s+not\s+null|delete\s+from|alter\s+column\s+\S+\s+(type|set\s+data)|add\s+constraint|add\s+check|(add\s+column|add)\s+\w+\s+[^,;]*not\s+null(?![^,;]*default))\b/i;

/** The statements of a migration that take something away from older versions; not what its own functions do. */
function removals(up: string): string[] {
  const made = [...up.matchAll(/create (?:unlogged )?table (?:if not exists )?([\w."]+)/gi)].map(
    (match) => match[1]!,
  );
  const statements = up
    .replaceAll(/\$\$[\s\S]*?\$\$/g, "")
    .replaceAll(/--.*/g, "")
    .split(";");
  return (
    statements
      .map((statement) => statement.trim())
      // Nobody names an index.
      .filter((statement) => takesAway.test(statement) && !/^(create table|alter index)/i.test(statement))
      .filter((statement) => !made.some((name) => new RegExp(`^alter table ${name}\\b`, "i").test(statement)))
  );
}

test("a new migration only adds, or says which is the oldest version that works after it", () => {
  for (const { name, up, contract } of migrations) {
    if (name in newest.migrations || typeof up !== "string") continue;
    if (contract === undefined) expect([name, removals(up)]).toEqual([name, []]);
    else expect(compareVersions(contract.oldest, ownVersion), name).toBeLessThanOrEqual(0);
  }
});

test.each([
  ["alter table entry drop column note", true],
  ["alter table entry rename to book", true],
  ["alter table entry alter column note type varchar(10)", true],
  ["alter table entry add column more text not null", true],
  ["alter table entry add more text not null", true],
  ["drop function admit_call(text)", true],
  ["delete from entry", true],
  ["alter table entry add column more text", false],
  ["alter table entry add column more text not null default ''", false],
  ["create table new (id int not null); alter table new add column more text not null", false],
  ["create function f() returns void language sql as $$ delete from new $$", false],
])("the rule knows what takes something away: %s", (up, takes) => {
  expect(removals(up).length > 0).toBe(takes);
});

test("statements of the last release and of this version work side by side on the new tables", async () => {
  const place = mkdtempSync(join(tmpdir(), "dataq-schema-"));
  const database = await openDatabase({ folder: place, progress: () => {} });
  try {
    await migrate(
      database,
      migrations.filter(({ name }) => name in newest.migrations),
    );
    await database.query("insert into price values ('legal_laws', 1, 100, 100, 'epoch', 'test')");
    const now = new Date("2026-05-01T03:04:05Z");
    const old = oldService(database, newest, now);
    await old.open("acc");
    await old.call("before", "capture");
    await migrate(database, migrations);
    await playBoth(database, old, now);
    await sealEntries(database, now);
    const { findings } = await verifyLedger(database);
    expect(findings.flatMap(({ breaches }) => breaches)).toEqual([]);
    const range = { from: "2026-05-01", to: "2026-05-01", groups: ["operation"] } as const;
    const usage = [
      { operation: "legal_laws", calls: 8, billed_calls: 6, cached_calls: 0, failed_calls: 1, tokens: 600 },
    ];
    expect(await readUsage(database, "acc", range)).toEqual(usage);
    await sumNewUsage(database);
    expect(await readUsage(database, "acc", range)).toEqual(usage);
    expect(await old.usage()).toMatchObject([{ day: "2026-05-01", calls: 8, billed_calls: 6, tokens: 600 }]);
  } finally {
    await database.close();
    rmSync(place, { recursive: true, force: true });
  }
}, 60_000);

async function playBoth(database: Database, old: ReturnType<typeof oldService>, now: Date): Promise<void> {
  const log = new RequestLog(database, (error) => {
    throw error;
  });
  const call = (requestId: string) => ({
    requestId,
    accountId: "acc",
    keyId: "key",
    operation: "legal_laws",
    tokens: 100,
    priceVersion: 1,
    cached: false,
    instanceId: 0,
    now,
    deadline: now,
  });
  const end = { kind: "capture", tokens: 100, note: "t", now, accountId: "acc" } as const;
  await old.call("old captured", "capture");
  await old.call("old voided", "void");
  await topUp(database, "acc", 5, "pay new", { actor: "t", note: "t", now });
  await hold(database, call("new"));
  await settle(database, "new", end);
  // Each ends what the other began.
  await old.hold("old then new");
  await settle(database, "old then new", end);
  await old.log("old then new", 200);
  await hold(database, call("new then old"));
  await old.settle("new then old", "capture");
  await charge(database, call("new charged"));
  await old.log("old failed", 503);
  log.add({
    id: "new then old",
    at: now,
    accountId: "acc",
    keyId: "key",
    mode: "live",
    route: "/",
    operation: "legal_laws",
    status: 200,
    code: null,
    reason: null,
    cached: false,
    latencyMs: 1,
    clientRequestId: null,
  });
  await log.flush();
}

/** What the release sent to the database. */
function oldService(database: Database, { statements }: Release, now: Date) {
  const send = (name: keyof Release["statements"], values: unknown[]) =>
    database.query({ text: statements[name], values });
  const old = {
    async open(id: string) {
      await send("open_wallet", [id, now]);
      await send("top_up", [id, 10_000, now, "test", "test", `pay ${id}`]);
    },
    hold: (id: string) =>
      send("hold", ["acc", 100, now, id, "key", "legal_laws", 1, false, null, 0, now, null, null]),
    settle: (id: string, kind: "capture" | "void") =>
      send("settle", [id, kind, kind === "void" ? 0 : 100, "test", now]),
    log: (id: string, status: number) =>
      send(
        "log",
        [id, now, "acc", "key", "live", "/", "legal_laws", status, null, false, 1, null, null].map(
          (value) => [value],
        ),
      ),
    async call(id: string, kind: "capture" | "void") {
      await old.hold(id);
      await old.settle(id, kind);
      await old.log(id, 200);
    },
    usage: async () => (await send("usage", ["acc", "2026-05-01", "2026-05-01", "08:00"])).rows,
  };
  return old;
}
