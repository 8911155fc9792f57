import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyBooks } from "../src/accounts/verify.ts";
import { queryAsOwner } from "./data-folder.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess();
}, 60_000);
afterAll(() => service?.[Symbol.asyncDispose]());

const brokenLaws = async () =>
  (await verifyBooks(service.database)).findings.flatMap(({ breaches }) => [...breaches]);

/** Runs `run` while a statement on a table fails, as if the service died in the middle. */
async function whileFailing(statement: string, table: string, run: () => Promise<void>): Promise<void> {
  await queryAsOwner(
    service.database,
    "create or replace function cut() returns trigger language plpgsql as $$ begin raise 'cut'; end $$",
    `create trigger cut before ${statement} on ${table} for each row execute function cut()`,
  );
  try {
    await run();
  } finally {
    await queryAsOwner(service.database, `drop trigger cut on ${table}`);
  }
}

describe("what is interrupted leaves nothing behind", () => {
  test.each([
    ["insert", "wallet"],
    ["insert", "entry"],
    ["insert", "audit"],
    ["insert", "api_key"],
  ])("an account, by a failed %s into %s", async (statement, table) => {
    const body = { name: "cut", email: `cut-${table}@example.com` };
    await whileFailing(statement, table, async () => {
      expect((await service.call("/admin/v1/accounts", { body })).status).toBe(500);
    });
    expect(await brokenLaws()).toEqual([]);
    // Its address can be used again.
    expect((await service.call("/admin/v1/accounts", { body })).status).toBe(201);
    expect((await service.call("/admin/v1/accounts", { body })).body.code).toBe("already_exists");
  });

  test.each([
    ["update", "account"],
    ["insert", "audit"],
  ])("a top-up with its tier, by a failed %s of %s", async (statement, table) => {
    const { id, keys } = await service.account(0, { tier: "trial" });
    const body = { tokens: 500, reference: `transfer ${table}` };
    await whileFailing(statement, table, async () => {
      expect((await service.call(`/admin/v1/accounts/${id}/topups`, { body })).status).toBe(500);
    });
    const read = async () => (await service.call("/v1/account", { key: keys[0]! })).body;
    expect(await read()).toMatchObject({ tier: "trial", balance: { balance: 0 } });
    expect((await service.call(`/admin/v1/accounts/${id}/topups`, { body })).status).toBe(201);
    expect(await read()).toMatchObject({ tier: "standard", balance: { balance: 500 } });
  });

  test("a voucher with its tier", async () => {
    const { id } = await service.account(0, { tier: "trial" });
    const made = await service.call(`/admin/v1/accounts/${id}/keys`, {
      body: { scopes: ["read:account", "manage:billing"] },
    });
    const key = made.body.keys[0];
    const codes = (await service.call("/admin/v1/vouchers", { body: { tokens: 70 } })).body.codes;
    const redeem = () => service.call("/v1/vouchers/redeem", { key, body: { code: codes[0] } });
    await whileFailing("update", "account", async () => {
      expect((await redeem()).status).toBe(500);
    });
    const open = await service.call("/admin/v1/vouchers?state=open");
    expect(open.body.data).toHaveLength(1);
    expect((await redeem()).body).toMatchObject({ tokens: 70, balance: 70 });
    expect((await redeem()).body.code).toBe("invalid_voucher");
    expect((await service.call("/v1/account", { key })).body.tier).toBe("standard");
  });

  test("the rotation of a key", async () => {
    const made = (await service.call("/v1/keys", { body: { name: "old" } })).body;
    const count = async () => (await service.call("/v1/keys")).body.data.length;
    const before = await count();
    await whileFailing("update", "api_key", async () => {
      const answer = await service.call(`/v1/keys/${made.id}/rotate`, { body: {} });
      expect(answer.status).toBe(500);
    });
    expect(await count()).toBe(before);
    expect((await service.call("/v1/balance", { key: made.key })).status).toBe(200);
  });
});

test("verify reports an account without a wallet, and a wallet without an account", async () => {
  await service.database.query(
    "insert into account values ('acc_without', 'x', null, 'customer', 'trial', now())",
  );
  await service.database.query("insert into wallet (account_id, touched_at) values ('acc_alone', now())");
  expect(await brokenLaws()).toEqual([
    "the account acc_without has no wallet",
    "the wallet acc_alone has no account",
  ]);
  await queryAsOwner(
    service.database,
    "delete from account where id = 'acc_without'",
    "delete from wallet where account_id = 'acc_alone'",
  );
  expect(await brokenLaws()).toEqual([]);
});

test("a retry after midnight in China is the same request, although the service filled in another date", async () => {
  const { keys } = await service.account(100_000);
  const headers = { "idempotency-key": "midnight" };
  const ask = (body: object) => service.call("/v1/data/query", { key: keys[0]!, headers, body });
  const body = { operation: "content_hot_rank", params: { platform: "weibo" } };
  service.nowMs = Date.parse("2026-03-10T23:59:59+08:00");
  const first = await ask(body);
  service.nowMs += 2_000;
  const second = await ask({ params: { platform: "weibo" }, operation: "content_hot_rank" });
  expect(second.status).toBe(200);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(second.body.data).toEqual(first.body.data);
  const other = await ask({ ...body, params: { platform: "weibo", date: "2026-03-10" } });
  expect(other.body.code).toBe("idempotency_mismatch");
});

test("a leak report is answered before the key is looked up, in the same way for every text", async () => {
  const { key } = (await service.call("/v1/keys", { body: {} })).body;
  const report = (text: string) => service.call("/v1/keys/leak-report", { key: null, body: { key: text } });
  const owner = await service.database.connectAsOwner();
  try {
    // Meanwhile nobody can even read a key.
    await owner.query("begin; lock table api_key in access exclusive mode");
    expect((await report(key)).status).toBe(202);
    expect((await report("nothing")).status).toBe(202);
    await owner.query("rollback");
  } finally {
    await owner.end();
  }
  await expect.poll(async () => (await service.call("/v1/balance", { key })).status).toBe(401);
});

test("leak reports from one address are limited", async () => {
  service.nowMs += 3_600_000;
  const codes = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const answer = await service.call("/v1/keys/leak-report", { key: null, body: { key: "x" } });
      return answer.status;
    }),
  );
  expect(codes.filter((status) => status === 202)).toHaveLength(30);
  expect(codes.filter((status) => status === 429)).toHaveLength(10);
});

describe("an account's allowance", () => {
  test("is used by costly reports, not by calls, and refills", async () => {
    const { keys } = await service.account(1_000_000, { tier: "trial" });
    const key = keys[0]!;
    const statusOf = async (path: string, body?: object) =>
      (await service.call(path, { key, ...(body && { body }) })).status;
    const reports = [];
    for (let i = 0; i < 25; i++) reports.push(await statusOf("/v1/usage"));
    expect(reports.filter((status) => status === 200)).toHaveLength(20);
    expect(reports.at(-1)).toBe(429);
    expect(await statusOf("/v1/balance")).toBe(429);
    const call = { operation: "legal_laws", params: { query: "found calls" } };
    expect(await statusOf("/v1/data/query", call)).toBe(200);
    service.nowMs += 1_000;
    expect(await statusOf("/v1/usage")).toBe(200);
  });

  test("is used by an estimate according to its queries", async () => {
    const { keys } = await service.account(1_000_000, { tier: "trial" });
    const queries = Array.from({ length: 100 }, (_, n) => ({
      operation: "legal_laws",
      params: { query: `found ${n}` },
    }));
    const statuses = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await service.call("/v1/data/estimate", { key: keys[0]!, body: { queries } })).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe("exports", () => {
  test("that nobody reads are limited in number and delay nobody else", async () => {
    service.nowMs += 3_600_000;
    const { id, keys } = await service.account(1_000_000);
    // More data than a socket buffers.
    await service.database.query(
      `insert into entry (account_id, seq, at, kind, payments, paid, balance_after, actor, note)
       select $1, 1 + n, now(), 'topup', 0, 0, 1000000, 'test', repeat('x', 400) from generate_series(1, 20000) n`,
      [id],
    );
    const controller = new AbortController();
    const unread = await Promise.all(
      Array.from({ length: 60 }, () =>
        fetch(`${service.url}/v1/ledger/export`, {
          headers: { authorization: `Bearer ${keys[0]}`, "accept-encoding": "identity" },
          signal: controller.signal,
        }),
      ),
    );
    expect(unread.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(unread.filter(({ status }) => status === 429)).toHaveLength(58);
    const other = await service.account(100_000);
    const call = { operation: "legal_laws", params: { query: "found meanwhile" } };
    expect((await service.call("/v1/data/query", { key: other.keys[0]!, body: call })).status).toBe(200);
    // All connections for calls are free. An export uses none while it waits between its pieces.
    expect(service.database.pool.waitingCount).toBe(0);
    controller.abort();
    const again = () =>
      fetch(`${service.url}/v1/ledger/export?format=csv`, {
        headers: { authorization: `Bearer ${keys[0]}` },
      });
    let answer = await again();
    while (answer.status === 429) {
      await answer.arrayBuffer();
      answer = await again();
    }
    expect((await answer.text()).split("\r\n")).toHaveLength(20_003);
  }, 60_000);

  test("that are refused write nothing to the audit log", async () => {
    const lines = (await service.call("/admin/v1/audit?limit=500")).body.data;
    const exported = lines.filter(({ action }: { action: string }) => action === "export.ledger");
    expect(exported).toHaveLength(3);
  });
});

test("a service can stop despite an unread download and a silent connection", async () => {
  const own = await startInProcess();
  const { id, keys } = await own.account(1_000_000);
  await own.database.query(
    `insert into entry (account_id, seq, at, kind, paid, payments, balance_after, actor, note)
     select $1, 1 + n, now(), 'topup', 0, 0, 1000000, 'test', repeat('x', 400) from generate_series(1, 20000) n`,
    [id],
  );
  const silent = connect(Number(new URL(own.url).port), "127.0.0.1");
  const unread = await fetch(`${own.url}/v1/ledger/export`, {
    headers: { authorization: `Bearer ${keys[0]}`, "accept-encoding": "identity" },
  });
  const ended = once(silent, "close");
  await own[Symbol.asyncDispose]();
  await ended;
  await expect(unread.text()).rejects.toThrow();
}, 30_000);
