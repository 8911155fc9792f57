import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, PostgresServers, startBouncer } from "./postgres-server.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

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

/** A service on the primary. */
function start(env: Record<string, string> = {}): Promise<ServiceProcess> {
  return startService({
    folder,
    vendor: { without: ["legal_cases", "legal_laws"] },
    env: { DATABASE_URL: primary.url(), DATAQ_SECRET: servers.secret, ...env },
  });
}

async function account(service: ServiceProcess, tokens: number): Promise<string> {
  const made = await service.call("/admin/v1/accounts", {
    body: { name: "buyer", tokens, tier: "operator", keys: 1 },
  });
  return made.body.keys[0];
}

/** An import of 3,000 records. */
function journals(round: number): object {
  const file = join(folder, `journals-${round}.csv`);
  const rows = Array.from({ length: 3_000 }, (_, n) => `学报${n},${10_000_000 * round + n}`);
  writeFileSync(file, `title,issn\n${rows.join("\n")}`);
  return { operation: "research_journal_search", from: file, source: "Office", kind: "official" };
}

const judgments = { operation: "legal_cases", params: { query: "借款 合同" } };
const check = (name: string) => ({ operation: "enterprise_shixin_check", params: { company_name: name } });

async function verified(service: ServiceProcess): Promise<string[]> {
  const { body } = await service.call("/admin/v1/ledger/verify");
  return body.findings.flatMap(({ breaches }: { breaches: string[] }) => breaches);
}

test("a service never opens more connections than DATAQ_POOL, and with the fewest every call of a burst is answered", async () => {
  await using service = await start({ DATAQ_POOL: "8" });
  const key = await account(service, 10_000_000);
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const [row] = await primary.query<{ n: number }>(
        "select count(*)::int as n from pg_stat_activity where datname = 'postgres' and application_name like 'dataq%'",
      );
      most = Math.max(most, row!.n);
    }
  })();
  const hook = await service.call("/v1/webhooks", {
    body: { url: "http://127.0.0.1:9/", events: ["balance.low"] },
  });
  expect(hook.status).toBe(201);
  const job = service.call("/admin/v1/imports", { body: journals(1) });
  const exports = Array.from({ length: 4 }, () => service.call("/v1/ledger/export?format=csv"));
  const calls = Array.from({ length: 120 }, (_, n) =>
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
  expect(most).toBeLessThanOrEqual(8);
  expect(await verified(service)).toEqual([]);
});

describe("through a PgBouncer in transaction mode (needs Debian's pgbouncer)", () => {
  const isInstalled = existsSync("/usr/sbin/pgbouncer");

  test.skipIf(!isInstalled)(
    "two services pay, search, import and send jobs over five server connections, and the books balance",
    async () => {
      await using bouncer = await startBouncer(primary, servers, 5);
      const env = { DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: primary.url() };
      await using first = await start(env);
      await using second = await start(env);
      const key = await account(first, 10_000_000);
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
        .toMatchObject({ state: "done", report: { records: 3_000 } });
      expect(await verified(second)).toEqual([]);
      const direct = await primary.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
          where application_name like 'dataq%' and client_port not in (select unnest($1::int[]))`,
        [await bouncer.ports()],
      );
      // The life locks of both services.
      expect(direct).toEqual([{ n: 2 }]);
    },
  );
});
