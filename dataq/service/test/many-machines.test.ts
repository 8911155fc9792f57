import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../src/database/database.ts";
import { Replica } from "../src/database/replica.ts";
import { type PostgresServer, PostgresServers, startBouncer } from "./postgres-server.ts";
import { type ServiceProcess, startService } from "./service-process.ts";
import { useVendor } from "./vendor.ts";

let servers: PostgresServers;
let primary: PostgresServer;
let folder: string;

beforeAll(async () => {
  servers = new PostgresServers();
  primary = await servers.primary();
  folder = mkdtempSync(join(tmpdir(), "dataq-machines-"));
});

afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Searches of these use the index. */
const withoutVendor = ["legal_cases", "legal_laws", "research_journal_search"] as const;

/** A service on the primary. */
function start(env: Record<string, string> = {}): Promise<ServiceProcess> {
  return startService({
    folder,
    vendor: { without: withoutVendor },
    env: { DATABASE_URL: primary.url(), DATAQ_SECRET: servers.secret, ...env },
  });
}

async function account(service: ServiceProcess, tokens: number): Promise<string> {
  const made = await service.call("/admin/v1/accounts", {
    body: { name: "buyer", tokens, tier: "operator", keys: 1 },
  });
  return made.body.keys[0];
}

/** An import of 1,000 records. */
function journals(round: number): object {
  const file = join(folder, `journals-${round}.csv`);
  const rows = Array.from({ length: 1_000 }, (_, n) => `学报${n},${10_000_000 * round + n}`);
  writeFileSync(file, `title,issn\n${rows.join("\n")}`);
  return { operation: "research_journal_search", from: file, source: "Office", kind: "official" };
}

const parcel = {
  message: "ok",
  nu: "YT1",
  ischeck: "1",
  com: "yuantong",
  status: "200",
  state: "3",
  data: [{ time: "2026-02-01 09:00:00", ftime: "2026-02-01 09:00:00", context: "已签收", statusCode: "301" }],
};

/** A vendor of parcels that answers when the test does, or fails. */
interface Courier {
  readonly connector: object;
  readonly waiting: ServerResponse[];
  asked: number;
  isBroken: boolean;
  close(): void;
}

async function startCourier(): Promise<Courier> {
  const server = createServer((_, response) => {
    courier.asked++;
    if (courier.isBroken) response.writeHead(500).end();
    else courier.waiting.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const courier: Courier = {
    connector: {
      vendor: "kuaidi100",
      customer: "C1234",
      key: "K1234",
      url: `http://127.0.0.1:${port}/`,
      most_at_once: 3,
    },
    waiting: [],
    asked: 0,
    isBroken: false,
    close: () => server.close(),
  };
  return courier;
}

const judgments = { operation: "legal_cases", params: { query: "借款 合同" } };
const check = (name: string) => ({ operation: "enterprise_shixin_check", params: { company_name: name } });

async function verified(service: ServiceProcess): Promise<string[]> {
  const { body } = await service.call("/admin/v1/ledger/verify");
  return body.findings.flatMap(({ breaches }: { breaches: string[] }) => breaches);
}

test("a service never opens more connections than DATAQ_POOL, and with the fewest every call of a burst is answered", async () => {
  await using service = await start({ DATAQ_POOL: "9" });
  const key = await account(service, 10_000_000);
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    // One connection for all questions, or most of the work of this test would be opening connections.
    const watch = new pg.Client({ connectionString: primary.url() });
    await watch.connect();
    while (!isOver) {
      const { rows } = await watch.query<{ n: number }>(
        "select count(*)::int as n from pg_stat_activity where datname = 'postgres' and application_name like 'dataq%'",
      );
      most = Math.max(most, rows[0]!.n);
      await sleep(2);
    }
    await watch.end();
  })();
  const hook = await service.call("/v1/webhooks", {
    body: { url: "http://127.0.0.1:9/", events: ["balance.low"] },
  });
  expect(hook.status).toBe(201);
  const job = service.call("/admin/v1/imports", { body: journals(1) });
  const exports = Array.from({ length: 4 }, () => service.call("/v1/ledger/export?format=csv"));
  const calls = Array.from({ length: 90 }, (_, n) =>
    service.call("/v1/data/query", { key, body: n % 3 === 0 ? judgments : check(`公司${n}`) }),
  );
  const answers = await Promise.all(calls);
  expect((await job).status).toBe(202);
  await Promise.all(exports);
  const { id } = (await job).body;
  await expect
    .poll(async () => (await service.call(`/admin/v1/jobs/${id}`)).body)
    .toMatchObject({ state: expect.stringMatching(/done|failed/) });
  expect((await service.call(`/admin/v1/jobs/${id}`)).body).toMatchObject({ state: "done" });
  isOver = true;
  await watching;
  expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
  expect(most).toBeGreaterThan(4);
  expect(most).toBeLessThanOrEqual(9);
  expect(await verified(service)).toEqual([]);
});

describe("two services", () => {
  const isInstalled = existsSync("/usr/sbin/pgbouncer");
  let bouncer: Awaited<ReturnType<typeof startBouncer>> | undefined;
  let courier: Courier;
  let first: ServiceProcess;
  let second: ServiceProcess;
  let key: string;

  beforeAll(async () => {
    if (isInstalled) bouncer = await startBouncer(primary, servers, 5);
    courier = await startCourier();
    const vendors = await useVendor(folder, [...withoutVendor, "cloud_express_tracking"]);
    const path = vendors["DATAQ_CONNECTORS"]!;
    const { connectors } = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ connectors: [...connectors, courier.connector] }));
    const bounced = bouncer && { DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: primary.url() };
    [first, second] = [await start({ ...vendors, ...bounced }), await start({ ...vendors, ...bounced })];
    key = await account(first, 10_000_000);
  });
  afterAll(async () => {
    await first?.[Symbol.asyncDispose]();
    await second?.[Symbol.asyncDispose]();
    await bouncer?.[Symbol.asyncDispose]();
    courier?.close();
  });

  test.skipIf(!isInstalled)(
    "pay, search, import and send jobs through a PgBouncer in transaction mode over five server connections, and the books balance (needs Debian's pgbouncer)",
    async () => {
      const hook = await first.call("/v1/webhooks", {
        body: { url: "http://127.0.0.1:9/", events: ["balance.low"] },
      });
      expect(hook.status).toBe(201);
      const answers = await Promise.all(
        Array.from({ length: 80 }, (_, n) =>
          (n % 2 === 0 ? first : second).call("/v1/data/query", {
            key,
            body: n % 4 === 0 ? judgments : check(`商行${n}`),
          }),
        ),
      );
      expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
      const { body } = await first.call("/admin/v1/imports", { body: journals(2) });
      await expect
        .poll(async () => (await second.call(`/admin/v1/jobs/${body.id}`)).body)
        .toMatchObject({ state: "done", report: { records: 1_000 } });
      // The first check covers everything, the next one what is new, each while calls use the same connections.
      for (let round = 0; round < 2; round++) {
        const calls = Array.from({ length: 30 }, (_, n) =>
          first.call("/v1/data/query", { key, body: check(`核对${round}-${n}`) }),
        );
        expect(await verified(second)).toEqual([]);
        expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
      }
      const direct = await primary.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
          where application_name like 'dataq%' and client_port not in (select unnest($1::int[]))`,
        [await bouncer!.ports()],
      );
      // The life locks of both services.
      expect(direct).toEqual([{ n: 2 }]);
    },
  );

  test("count as one for a vendor: its limit of concurrent calls, and its breaker", async () => {
    let serial = 0;
    const track = (service: ServiceProcess) =>
      service.call("/v1/data/query", {
        key,
        body: {
          operation: "cloud_express_tracking",
          params: { express_no: `YT10000000${10_000 + serial++}` },
        },
      });
    const answers = Array.from({ length: 10 }, (_, n) => track(n % 2 === 0 ? first : second));
    await expect.poll(() => courier.waiting.length).toBe(3);
    // The other seven wait for a place, at both services.
    await sleep(500);
    expect(courier.asked).toBe(3);
    let isDone = false;
    const states = Promise.all(answers).then((all) => {
      isDone = true;
      return all.map(({ status }) => status);
    });
    while (!isDone) {
      expect(courier.waiting.length).toBeLessThanOrEqual(3);
      courier.waiting.shift()?.end(JSON.stringify(parcel));
      await sleep(20);
    }
    expect(new Set(await states)).toEqual(new Set([200]));
    expect(courier.asked).toBe(10);
    courier.isBroken = true;
    for (let n = 0; n < 5; n++) expect((await track(n % 2 === 0 ? first : second)).status).toBe(502);
    const before = courier.asked;
    expect((await track(first)).status).toBe(503);
    expect((await track(second)).status).toBe(503);
    expect(courier.asked).toBe(before);
    const { data } = (await second.call("/admin/v1/connectors")).body;
    const ours = ({ name }: { name: string }) => name === "kuaidi100";
    expect(data.filter(ours)).toMatchObject([
      { requests: 15, last_failure: "The vendor answered with status 500." },
    ]);
  });
});

describe("TLS with sslmode=verify-full", () => {
  const open = (host: string, parameters: string) =>
    openDatabase({
      url: `${primary.url(host)}?sslmode=verify-full${parameters}`,
      folder,
      progress: () => {},
    });

  test("connects to the name in a certificate of a known CA, and names the fix for every other case", async () => {
    await expect(open("localhost", "")).rejects.toThrow("remove sslmode from DATABASE_URL");
    const { authority } = await servers.certify(primary, "localhost");
    const known = `&sslrootcert=${authority}`;
    const database = await open("localhost", known);
    const [row] = (await database.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()")).rows;
    expect(row).toEqual({ ssl: true });
    await database.close();
    await expect(open("127.0.0.1", known)).rejects.toThrow(
      "Use the host name of the certificate in DATABASE_URL",
    );
    await expect(open("localhost", "")).rejects.toThrow("Add sslrootcert=<file with the CA's certificate>");
    const other = await servers.authority("other");
    await expect(open("localhost", `&sslrootcert=${other.certificate}`)).rejects.toThrow(
      "is not from a known CA",
    );
    await expect(open("localhost", "&sslrootcert=/nowhere/ca.pem")).rejects.toThrow(
      "sslrootcert=/nowhere/ca.pem, which cannot be read (ENOENT)",
    );
  });
});

describe("DATABASE_READ_URL", () => {
  let replica: PostgresServer;

  beforeAll(async () => {
    replica = await servers.replicaOf(primary);
  });

  /** Statements of services that the replica has answered. */
  async function answered(): Promise<number> {
    const [row] = await replica.query<{ n: number }>(
      "select (pg_stat_get_db_tuples_fetched(oid) + pg_stat_get_db_tuples_returned(oid))::int as n from pg_database where datname = 'postgres'",
    );
    return row!.n;
  }

  test("lists contain what was changed a moment ago, and the replica answers those of before", async () => {
    const [first, second] = [primary, replica].map(
      (server) => new pg.Pool({ connectionString: server.url() }),
    );
    try {
      let nowMs = 0;
      const reads = new Replica(first!, second!, () => nowMs);
      const count = async () =>
        (await reads.recent.query<{ n: number }>("select count(*)::int as n from instance")).rows[0]!.n;
      await expect
        .poll(async () => {
          // A replica that lagged or failed is asked again after some seconds of this clock.
          nowMs += 10_000;
          reads.showWrites();
          await count();
          const asked = "select pg_is_in_recovery() as is_replica";
          return (await reads.recent.query<{ is_replica: boolean }>(asked)).rows[0]!.is_replica;
        })
        .toBe(true);
      const before = await count();
      await replica.query("select pg_wal_replay_pause()");
      await primary.query("insert into instance (started_at) values (now())");
      expect(await count()).toBe(before);
      reads.showWrites();
      expect(await count()).toBe(before + 1);
    } finally {
      await replica.query("select pg_wal_replay_resume()");
      await Promise.all([first!.end(), second!.end()]);
    }
  });

  test("a replica answers searches; one that lags or is gone is never taken for an empty index", async () => {
    await using service = await start({ DATABASE_READ_URL: replica.url() });
    const titles = async (query: string) => {
      const body = { operation: "research_journal_search", params: { query } };
      const { status, body: answer } = await service.call("/v1/data/query", { body });
      expect(status).toBe(200);
      return answer.data.map((record: { name?: string; title?: string }) => record.title ?? record.name);
    };
    const bring = async (round: number, words: string) => {
      const file = join(folder, `words-${round}.csv`);
      writeFileSync(file, `title,issn\n${words}学报,1000-000${round}\n`);
      const body = {
        operation: "research_journal_search",
        from: file,
        dataset: `words ${round}`,
        source: "Office",
        kind: "official",
      };
      const { id } = (await service.call("/admin/v1/imports", { body })).body;
      await expect.poll(async () => (await service.call(`/admin/v1/jobs/${id}`)).body.state).toBe("done");
    };
    await bring(1, "天文");
    await expect.poll(() => titles("天文")).toEqual(["天文学报"]);
    const before = await answered();
    await expect
      .poll(async () => {
        await titles(`天文 ${Math.random()}`);
        return (await answered()) > before;
      })
      .toBe(true);

    await replica.query("select pg_wal_replay_pause()");
    await bring(2, "地质");
    await expect.poll(() => titles("地质")).toEqual(["地质学报"]);
    expect(await titles("天文")).toEqual(["天文学报"]);
    const { body: calls } = await service.call("/v1/requests?limit=1");
    expect(calls.data).toHaveLength(1);
    // Changes are in the next list, and nothing that exists is reported as missing.
    const made = await service.call("/admin/v1/accounts", { body: { name: "new", tokens: 7, keys: 1 } });
    const { account_id: id, keys } = made.body;
    const { body: accounts } = await service.call("/admin/v1/accounts?limit=1");
    expect(accounts.data).toMatchObject([{ id }]);
    const { body: entries } = await service.call("/v1/ledger", { key: keys[0] });
    expect(entries.data).toMatchObject([{ kind: "topup", tokens: 7 }]);
    const { body: log } = await service.call("/admin/v1/audit?limit=5");
    expect(log.data.map(({ target }: { target: string }) => target)).toContain(id);
    const call = await service.call("/v1/data/query", { body: check("滞后公司") });
    expect((await service.call(`/v1/requests/${call.body.request_id}`)).status).toBe(200);
    expect((await service.call("/v1/catalog")).body.data.length).toBeGreaterThan(10);
    await replica.query("select pg_wal_replay_resume()");
    const listed = await answered();
    await expect
      .poll(async () => {
        await service.call("/admin/v1/audit");
        return (await answered()) > listed;
      })
      .toBe(true);

    await replica.kill();
    await bring(3, "海洋");
    await expect.poll(() => titles("海洋")).toEqual(["海洋学报"]);
    expect(await titles("地质")).toEqual(["地质学报"]);
    await replica.start();
    expect(await verified(service)).toEqual([]);
  });
});
