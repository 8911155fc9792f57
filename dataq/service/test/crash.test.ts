import { fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFullSize } from "../../../testing/test-size.ts";
import type { Database } from "../src/database/database.ts";
import { verifyLedger } from "../src/ledger/verify.ts";
import { failpoints } from "../src/query/failpoint.ts";
import { environmentOf, isEmbedded, makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { check, type KilledCall, killAndRetry, killedCalls, openAccount } from "./killed-calls.ts";
import { callUrl, type ServiceProcess, startService } from "./service-process.ts";

let folder: string;
/** Keeps the embedded server running, so that only services are killed and they start quickly. */
let database: Database;
/** Two services that are never killed. The disk of the second one's log is full. */
let one: ServiceProcess;
let two: ServiceProcess;

beforeAll(async () => {
  folder = await makeDataFolder("first start");
  database = await openFolder(folder);
  const full = process.platform === "linux" ? { logTo: openSync("/dev/full", "w") } : {};
  [one, two] = await Promise.all([
    startService({ folder, vendor: true }),
    startService({ folder, vendor: true, ...full }),
  ]);
  if (full.logTo !== undefined) closeSync(full.logTo);
});
afterAll(async () => {
  await Promise.all([one, two].map((service) => service?.[Symbol.asyncDispose]()));
  await database?.close();
  await removeDataFolder(folder);
});

function some<Item>(of: readonly Item[], count: number): readonly Item[] {
  const left = [...of];
  return Array.from({ length: count }, () => left.splice(Math.floor(Math.random() * left.length), 1)[0]!);
}

async function expectLaws(on: Database): Promise<void> {
  const broken = (await verifyLedger(on)).findings.filter(({ breaches }) => breaches.length > 0);
  expect(broken).toEqual([]);
}

describe("two services on one database", () => {
  test("32 parallel calls with several keys and money for 7: exactly 7 succeed", async () => {
    expect(two.key).toBe(one.key);
    const { keys } = await openAccount(one, 70_000, 4);
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, i) =>
        callUrl(`${[one, two][i % 2]!.url}/v1/data/query`, { key: keys[i % 4], body: check(`公司${i}`) }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(7);
    expect(statuses.filter((status) => status === 402)).toHaveLength(25);
    const balance = await two.call("/v1/balance", { key: keys[0] });
    expect(balance.body).toMatchObject({ balance: 0, held: 0 });
    await expectLaws(database);
  });

  test("a key revoked at one is rejected by the other at once; both charge once under one Idempotency-Key", async () => {
    const { keys } = await openAccount(one, 70_000);
    const headers = { "idempotency-key": "same" };
    const answers = await Promise.all(
      [one, two, one, two].map(({ url }) =>
        callUrl(`${url}/v1/data/query`, { key: keys[0], headers, body: check("同一") }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers.filter(({ body }) => body.usage.reason === "replayed")).toHaveLength(3);
    expect((await two.call("/v1/balance", { key: keys[0] })).body.balance).toBe(60_000);
    const made = (await one.call("/v1/keys", { body: {} })).body;
    expect((await two.call("/v1/balance", { key: made.key })).status).toBe(200);
    await one.call(`/v1/keys/${made.id}`, { method: "DELETE" });
    expect((await two.call("/v1/balance", { key: made.key })).status).toBe(401);
  });
});

describe("a service killed during a call", () => {
  // A process for each takes seconds, so `npm test` tries two points at random and CI all, and one kind of call at each.
  const chosen = some(failpoints, isFullSize ? failpoints.length : 2).map((failpoint): KilledCall => {
    const both = killedCalls.filter((one) => one.failpoint === failpoint);
    return some(both, 1)[0]!;
  });

  test.each(chosen)(
    "at $failpoint of a call with $queries: the retry is answered and charged once (all: npm run proof -- killed-calls)",
    async (killed) => {
      await killAndRetry(killed, { folder, database, others: [one, two] });
    },
  );

  test("the books balance after all these kills", async () => {
    await expectLaws(database);
  });
});

test.skipIf(!isEmbedded)(
  "everything killed, including the database: the next start recovers and the books balance",
  async () => {
    const first = await startService({ vendor: true, env: { DATAQ_FAILPOINT: "after_hold" } });
    const data = first.folder;
    const { keys } = await openAccount(first, 50_000);
    await expect(first.call("/v1/data/query", { key: keys[0], body: check("断电") })).rejects.toThrow();
    const own = await openFolder(data);
    const owner = await own.connectAsOwner();
    const postmaster = await owner.query<{ pid: number }>(
      "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid",
    );
    await owner.end();
    await first.ended;
    process.kill(postmaster.rows[0]!.pid, "SIGKILL");
    await own.close();
    const again = await startService({ folder: data });
    expect(again.log()).toContain("interrupted 1 call; the tokens were returned");
    expect((await again.call("/v1/balance", { key: keys[0] })).body).toMatchObject({
      balance: 50_000,
      held: 0,
    });
    const verified = await again.call("/admin/v1/ledger/verify");
    expect(verified.body.ok).toBe(true);
    expect(await again.stop()).toBe(0);
    await removeDataFolder(data);
  },
);

test.skipIf(!isEmbedded)(
  "a service that is stopped while it starts ends, even if the channel of its parent is open",
  async () => {
    const data = await makeDataFolder("tables");
    const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
    const child = fork(main, ["serve"], {
      execArgv: ["--conditions=source"],
      silent: true,
      env: { ...environmentOf(data), DATAQ_HOST: "127.0.0.1:0", DATAQ_LAWS: "off" },
    });
    let log = "";
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("Starting the database")) child.kill("SIGTERM");
    });
    expect(await once(child, "exit")).toEqual([0, null]);
    await removeDataFolder(data);
  },
);
