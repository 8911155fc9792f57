import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { roles } from "../src/accounts/scope.ts";
import { verifyLedger } from "../src/ledger/verify.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

let service: InProcessService;
let receiver: Receiver;

beforeAll(async () => {
  service = await startInProcess();
  await service.database.query(
    "insert into search_snapshot (corpus, size, created_at) values ('legal_cases', 0, now())",
  );
  await refresh();
}, 60_000);
afterAll(() => service?.[Symbol.asyncDispose]());
beforeEach(async () => {
  service.sources.ids = ["a", "b"];
  receiver = await startReceiver();
});
afterEach(() => {
  service.sources.onRun = () => {};
  return receiver[Symbol.asyncDispose]();
});

/** What the switch to a new state of the index writes. */
async function refresh(): Promise<void> {
  service.sources.version += "+";
  await service.database.query(
    `insert into search_corpus (corpus, snapshot, refreshed_at)
     select 'legal_cases', max(id), clock_timestamp() from search_snapshot
     on conflict (corpus) do update set refreshed_at = excluded.refreshed_at`,
  );
}

/** Lets waiting jobs run now. */
const hurry = () =>
  service.database.query(
    `select graphile_worker.reschedule_jobs(array_agg(id), run_at => now() - interval '1 second')
       from graphile_worker._private_jobs where locked_at is null having count(*) > 0;
     select pg_notify('jobs:insert', '')`,
  );

const wait = (check: () => Promise<void> | void) =>
  vi.waitFor(
    async () => {
      await hurry();
      await check();
    },
    { timeout: 20_000, interval: 50 },
  );

interface Customer {
  readonly id: string;
  readonly call: InProcessService["call"];
}

async function customer(tokens: number, events = ["watch.found", "watch.stopped"]): Promise<Customer> {
  const { id } = await service.account(tokens, { keys: 0 });
  const made = await service.call(`/admin/v1/accounts/${id}/keys`, { body: { scopes: roles.owner } });
  const call: Customer["call"] = (path, options) =>
    service.call(path, { key: made.body.keys[0], ...options });
  if (events.length > 0) await call("/v1/webhooks", { body: { url: receiver.url, events } });
  return { id, call };
}

const question = { operation: "legal_cases", params: { query: "found 合同" }, monthly_limit: 50_000 };
const watches = async ({ call }: Customer) => (await call("/v1/watches")).body.data;
const balance = async ({ call }: Customer) => (await call("/v1/balance")).body;
const told = () => receiver.received.map(({ body }) => JSON.parse(body));

describe("a watch", () => {
  test("asks at once and after every refresh, at the price of a call, and tells only new records", async () => {
    const shop = await customer(100_000);
    const made = await shop.call("/v1/watches", { body: { ...question, name: "contracts" } });
    expect(made).toMatchObject({
      status: 201,
      body: { records: 2, tokens: 5_000, spent: 5_000, enabled: true },
    });

    service.sources.ids = ["c", "a", "d"];
    await refresh();
    await wait(() => expect(told()).toHaveLength(1));
    expect(told()[0]).toMatchObject({
      type: "watch.found",
      data: {
        watch_id: made.body.id,
        name: "contracts",
        operation: "legal_cases",
        params: question.params,
        ids: ["c", "d"],
        records: [{ id: "c" }, { id: "d" }],
        request_id: expect.stringMatching(/^req_/),
      },
    });
    // b was found before, so it is not new when it comes back.
    service.sources.ids = ["b", "a"];
    await refresh();
    await wait(async () => expect((await watches(shop))[0].spent).toBe(15_000));
    expect(told()).toHaveLength(1);

    expect(await balance(shop)).toMatchObject({ balance: 85_000, held: 0 });
    const usage = (await shop.call("/v1/usage?group_by=key")).body.data;
    expect(usage).toMatchObject([{ key: made.body.id, tokens: 15_000, calls: 3 }]);
    await wait(async () => {
      const requests = (await shop.call(`/v1/requests?key=${made.body.id}`)).body.data;
      expect(requests.map(({ tokens }: { tokens: number }) => tokens)).toEqual([5_000, 5_000, 5_000]);
    });
    expect((await shop.call(`/v1/watches/${made.body.id}`, { method: "DELETE" })).status).toBe(204);
    expect(await watches(shop)).toEqual([]);
  });

  test("stops with a message when the balance is out, and goes on once it is enabled", async () => {
    const shop = await customer(6_000);
    const { id } = (await shop.call("/v1/watches", { body: question })).body;
    await refresh();
    await wait(() => expect(told()).toHaveLength(1));
    expect(told()[0]).toMatchObject({
      type: "watch.stopped",
      data: { watch_id: id, reason: "insufficient_balance", resumes_at: null },
    });
    expect(await watches(shop)).toMatchObject([{ enabled: false, stopped_reason: "insufficient_balance" }]);
    expect(await balance(shop)).toMatchObject({ balance: 1_000, held: 0 });

    await service.call(`/admin/v1/accounts/${shop.id}/adjust`, { body: { tokens: 5_000, reason: "more" } });
    const enabled = await shop.call(`/v1/watches/${id}`, { method: "PATCH", body: { enabled: true } });
    expect(enabled.body).toMatchObject({ enabled: true, stopped_reason: null, last_error: null });
    service.sources.ids = ["z"];
    await refresh();
    await wait(() => expect(told()).toHaveLength(2));
    expect(told()[1].data.ids).toEqual(["z"]);
  });

  test("waits for the next month at its limit, and says so once a month", async () => {
    const shop = await customer(100_000);
    const body = { ...question, monthly_limit: 9_999 };
    const { id } = (await shop.call("/v1/watches", { body })).body;
    const asked = service.sources.runs;
    for (let n = 0; n < 3; n++) {
      await refresh();
      await wait(async () => {
        const jobs = await service.database.query("select from graphile_worker._private_jobs");
        expect(jobs.rowCount).toBe(0);
      });
    }
    expect(service.sources.runs).toBe(asked);
    expect(told()).toMatchObject([
      {
        type: "watch.stopped",
        data: { watch_id: id, reason: "spend_limit_reached", resumes_at: "2026-03-31T16:00:00.000Z" },
      },
    ]);
    expect(await watches(shop)).toMatchObject([
      { enabled: true, stopped_reason: null, last_error: "spend_limit_reached", spent: 5_000 },
    ]);
    expect((await balance(shop)).balance).toBe(95_000);
  });

  test("is not asked while no webhook would hear of it", async () => {
    const shop = await customer(100_000, []);
    await shop.call("/v1/watches", { body: question });
    await refresh();
    await wait(async () => expect((await watches(shop))[0].last_error).toBe("no_webhook"));
    expect((await balance(shop)).balance).toBe(95_000);
  });

  test("a failing source is asked again, and costs nothing until it answers", async () => {
    const shop = await customer(100_000);
    await shop.call("/v1/watches", { body: question });
    let failures = 2;
    service.sources.onRun = () => {
      if (failures-- > 0) throw new Error("a fault of ours");
    };
    service.sources.ids = ["new"];
    await refresh();
    await wait(() => expect(told()).toHaveLength(1));
    expect(told()[0].data.ids).toEqual(["new"]);
    expect(await balance(shop)).toMatchObject({ balance: 90_000, held: 0 });
  });

  test.each([
    [{ ...question, operation: "enterprise_company_detail" }, "operation", "invalid_params"],
    [{ ...question, operation: "no_such" }, "operation", "invalid_params"],
    [{ ...question, monthly_limit: 0 }, "monthly_limit", "invalid_params"],
    [{ operation: "legal_cases", params: question.params }, "monthly_limit", "invalid_params"],
    [{ ...question, params: {} }, "query", "missing_parameter"],
    [{ ...question, params: { query: "found", wrong: "x" } }, "wrong", "unknown_parameter"],
    [{ ...question, monthly_limit: 4_999 }, undefined, "spend_limit_reached"],
    [{ ...question, params: { query: "fail:upstream_error" } }, undefined, "upstream_error"],
  ])("is not created from %j", async (body, param, code) => {
    const shop = await customer(100_000, []);
    const answer = await shop.call("/v1/watches", { body });
    expect(answer.body.code).toBe(code);
    if (param !== undefined) expect(answer.body.error.param).toContain(param);
    expect(await watches(shop)).toEqual([]);
    expect(await balance(shop)).toMatchObject({ balance: 100_000, held: 0 });
  });

  test("is not created by a key with a cap, which it would exceed, and not by one that may not query", async () => {
    const shop = await customer(100_000, []);
    const keyWith = async (body: object) => (await shop.call("/v1/keys", { body })).body.key;
    const capped = await keyWith({ scopes: ["manage:webhooks", "data:query"], monthly_cap: 60_000 });
    const managing = await keyWith({ scopes: ["manage:webhooks"] });
    expect((await shop.call("/v1/watches", { key: capped, body: question })).body.code).toBe("grant_denied");
    expect((await shop.call("/v1/watches", { key: managing, body: question })).body.code).toBe(
      "scope_denied",
    );
  });

  test("belongs to one account", async () => {
    const [shop, other] = [await customer(100_000, []), await customer(100_000, [])];
    const { id } = (await shop.call("/v1/watches", { body: question })).body;
    for (const [method, body] of [
      ["PATCH", { enabled: false }],
      ["DELETE", undefined],
    ] as const)
      expect((await other.call(`/v1/watches/${id}`, { method, body })).status).toBe(404);
    expect(await watches(shop)).toHaveLength(1);
  });

  test("an account may have 20", async () => {
    const shop = await customer(1_000_000, []);
    for (let n = 0; n < 20; n++)
      expect((await shop.call("/v1/watches", { body: question })).status).toBe(201);
    const before = await balance(shop);
    expect((await shop.call("/v1/watches", { body: question })).body.code).toBe("too_many");
    expect(await balance(shop)).toEqual(before);
  });

  test("the books balance after all of this", async () => {
    const broken = (await verifyLedger(service.database)).findings.filter(
      ({ breaches }) => breaches.length > 0,
    );
    expect(broken).toEqual([]);
  });
});
