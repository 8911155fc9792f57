import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Database } from "../src/database/database.ts";
import { recover } from "../src/ledger/instance.ts";
import { verifyLedger } from "../src/ledger/verify.ts";
import { failpoints } from "../src/query/failpoint.ts";
import { environmentOf, isEmbedded, makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { callUrl, type ServiceProcess, startService } from "./service-process.ts";

let folder: string;
/** Keeps the embedded server running, so that only services are killed and they start quickly. */
let database: Database;
/** Two services that are never killed. */
let one: ServiceProcess;
let two: ServiceProcess;

beforeAll(async () => {
  folder = await makeDataFolder("first start");
  database = await openFolder(folder);
  [one, two] = await Promise.all([
    startService({ folder, vendor: true }),
    startService({ folder, vendor: true }),
  ]);
});
afterAll(async () => {
  await Promise.all([one, two].map((service) => service?.[Symbol.asyncDispose]()));
  await database?.close();
  await removeDataFolder(folder);
});

async function expectLaws(on: Database): Promise<void> {
  const broken = (await verifyLedger(on)).findings.filter(({ breaches }) => breaches.length > 0);
  expect(broken).toEqual([]);
}

const account = async (service: ServiceProcess, tokens: number, keys = 1) =>
  (await service.call("/admin/v1/accounts", { body: { name: "crash", tokens, keys, tier: "operator" } }))
    .body;
const check = (name: string) => ({ operation: "enterprise_shixin_check", params: { company_name: name } });

describe("two services on one database", () => {
  test("32 parallel calls with several keys and money for 7: exactly 7 succeed", async () => {
    expect(two.key).toBe(one.key);
    const { keys } = await account(one, 70_000, 4);
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
    const { keys } = await account(one, 70_000);
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
  test.each(failpoints)("at %s: the retry is answered and charged once", async (failpoint) => {
    const { keys } = await account(one, 50_000);
    const doomed = await startService({ folder, vendor: true, env: { DATAQ_FAILPOINT: failpoint } });
    const headers = { "idempotency-key": `crash-${failpoint}` };
    const call = { key: keys[0], headers, body: check(`崩溃${failpoint}`) };
    await expect(doomed.call("/v1/data/query", call)).rejects.toThrow();
    await doomed.ended;
    // Recovers as each start and each sweep does. PostgreSQL needs a moment to notice that a connection is
    // gone.
    await vi.waitFor(async () => {
      await recover(database, new Date());
      expect((await one.call("/v1/balance", { key: keys[0] })).body.held).toBe(0);
    }, 30_000);
    const retry = await one.call("/v1/data/query", call);
    expect(retry.status).toBe(200);
    expect(retry.body.summary).toBeDefined();
    expect((await two.call("/v1/balance", { key: keys[0] })).body).toMatchObject({
      balance: 40_000,
      held: 0,
    });
  });

  test.each(["after_hold", "after_run", "before_settle", "after_settle"])(
    "at %s of a call with several queries: the retry is answered and charged once",
    async (failpoint) => {
      const { keys } = await account(one, 50_000);
      const doomed = await startService({ folder, vendor: true, env: { DATAQ_FAILPOINT: failpoint } });
      const headers = { "idempotency-key": `crash-several-${failpoint}` };
      const names = ["甲", "乙", "丙"].map((name) => check(`崩溃${name}${failpoint}`));
      const call = { key: keys[0], headers, body: { queries: [...names, { operation: "no_such" }] } };
      await expect(doomed.call("/v1/data/query", call)).rejects.toThrow();
      await doomed.ended;
      await vi.waitFor(async () => {
        await recover(database, new Date());
        expect((await one.call("/v1/balance", { key: keys[0] })).body.held).toBe(0);
      }, 30_000);
      const retry = await one.call("/v1/data/query", call);
      expect(retry.body.data.map(({ code = "answered" }) => code)).toEqual([
        "answered",
        "answered",
        "answered",
        "unknown_operation",
      ]);
      expect((await two.call("/v1/balance", { key: keys[0] })).body).toMatchObject({
        balance: 20_000,
        held: 0,
      });
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
    const { keys } = await account(first, 50_000);
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
