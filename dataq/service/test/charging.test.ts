import { errors } from "@dataq/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recover } from "../src/ledger/instance.ts";
import { verifyLedger } from "../src/ledger/verify.ts";
import { queryAsOwner } from "./data-folder.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess();
});
afterAll(async () => {
  // The books must balance after every test.
  for (const { law, text, breaches } of (await verifyLedger(service.database)).findings)
    expect(breaches, `${law}: ${text}`).toEqual([]);
  await service[Symbol.asyncDispose]();
});

const ask = (key: string, operation: string, value: string, more: object = {}, headers = {}) =>
  service.call("/v1/data/query", {
    key,
    headers,
    body: { operation, params: paramsOf(operation, value), ...more },
  });

function paramsOf(operation: string, value: string): object {
  if (operation === "legal_citation_check") return { text: value };
  if (operation.endsWith("_check")) return { company_name: value };
  if (operation === "content_keyword_index") return { keyword: value, date: "2026-03-01" };
  return { query: value };
}

describe("a check without findings is an answer, and is charged", () => {
  test.each(["enterprise_shixin_check", "enterprise_zhixing_check"])("%s", async (operation) => {
    const { keys } = await service.account(100_000);
    const answer = await ask(keys[0]!, operation, "empty 有限公司");
    expect(answer).toMatchObject({
      status: 200,
      body: { data: [], page: 1, usage: { tokens: 10_000, billed: true } },
    });
    expect(answer.body.summary).toMatchObject({ record_count: 0 });
    expect(await service.ledger(keys[0]!)).toEqual([
      ["topup", 100_000],
      ["hold", -10_000],
      ["capture", 0],
    ]);
    const again = await ask(keys[0]!, operation, "empty 有限公司");
    expect(again.body.usage).toMatchObject({
      tokens: 5_000,
      cached: true,
      reason: "cache_hit",
      balance: 85_000,
    });
    expect(again.headers.get("x-cache")).toBe("HIT");
  });
});

describe("a citation check costs as much as a law query per ten citations, rounded up", () => {
  test.each([
    [1, 5_000],
    [10, 5_000],
    [11, 10_000],
    [23, 15_000],
  ])("%i citations cost %i tokens, as estimated", async (count, tokens) => {
    const { keys } = await service.account(100_000);
    const text = `found ${count}`;
    const body = { operation: "legal_citation_check", params: { text } };
    const estimate = await service.call("/v1/data/estimate", { key: keys[0]!, body });
    expect(estimate.body).toMatchObject({ tokens, cached: false, balance_after: 100_000 - tokens });
    const refused = await ask(keys[0]!, "legal_citation_check", text, { max_tokens: tokens - 1 });
    expect(refused).toMatchObject({ status: 402, body: { code: "price_above_max" } });
    const answer = await ask(keys[0]!, "legal_citation_check", text);
    expect(answer.body.usage).toMatchObject({ tokens, list_tokens: tokens, balance: 100_000 - tokens });
    const again = await ask(keys[0]!, "legal_citation_check", text);
    expect(again.body.usage).toMatchObject({ tokens: tokens / 2, cached: true, reason: "cache_hit" });
  });

  test("a text without citations is free, and nothing is held", async () => {
    const { keys } = await service.account(0);
    const body = { operation: "legal_citation_check", params: { text: "empty 0" } };
    expect((await service.call("/v1/data/estimate", { key: keys[0]!, body })).body.tokens).toBe(0);
    const answer = await ask(keys[0]!, "legal_citation_check", "empty 0");
    expect(answer).toMatchObject({
      status: 200,
      body: { data: [], usage: { tokens: 0, billed: false, reason: "no_result" } },
    });
    expect(await service.ledger(keys[0]!)).toEqual([]);
  });

  test("a check that fails costs nothing", async () => {
    const { keys } = await service.account(100_000);
    expect((await ask(keys[0]!, "legal_citation_check", "fail:unavailable 30")).status).toBe(503);
    expect(await service.ledger(keys[0]!)).toEqual([
      ["topup", 100_000],
      ["hold", -15_000],
      ["void", 15_000],
    ]);
  });
});

describe("free calls appear as hold and void, or not at all", () => {
  const expectWholeBalance = async (key: string) =>
    expect((await service.call("/v1/balance", { key })).body).toMatchObject({ balance: 100_000, held: 0 });
  const expectVoided = async (key: string) => {
    const [, hold, end] = await service.ledger(key);
    expect([hold?.[0], end?.[0]]).toEqual(["hold", "void"]);
    expect(hold![1] + end![1]).toBe(0);
    await expectWholeBalance(key);
  };
  const free: [string, string, string, number, string | null][] = [
    ["a page past the end", "legal_cases", "past_end", 200, "no_result"],
    ["a question that lacks something", "enterprise_tax_invoice", "lacking", 200, "insufficient_elements"],
    ["a single record that does not exist", "content_keyword_index", "missing", 404, null],
    ["a source that answers wrongly", "legal_cases", "fail:upstream_error", 502, null],
    ["a source that is switched off", "legal_cases", "fail:unavailable", 503, null],
    ["a source that says it is too slow", "legal_cases", "fail:upstream_timeout", 504, null],
    ["a fault of ours", "legal_cases", "throw", 500, null],
    ["a source that wants more", "legal_cases", "fail:verification_required", 422, null],
  ];
  test.each(free)("%s", async (_name, operation, value, status, reason) => {
    const { keys } = await service.account(100_000);
    const body =
      operation === "enterprise_tax_invoice" ? { invoice_code: "044031900111" } : paramsOf(operation, value);
    if (operation === "enterprise_tax_invoice")
      service.sources.find = scriptedInvoice(service.sources.find.bind(service.sources));
    const answer = await service.call("/v1/data/query", { key: keys[0]!, body: { operation, params: body } });
    expect(answer.status).toBe(status);
    if (status === 200)
      expect(answer.body.usage).toMatchObject({ tokens: 0, billed: false, reason, balance: 100_000 });
    else expect(answer.body).not.toHaveProperty("data");
    await expectVoided(keys[0]!);
  });

  // At the same time as the next one, because each waits until the source's time is over.
  test.concurrent("a source that never answers", async () => {
    const { keys } = await service.account(100_000);
    const answer = await ask(keys[0]!, "legal_cases", "hang");
    expect(answer.status).toBe(504);
    expect(answer.body).not.toHaveProperty("data");
    await expectVoided(keys[0]!);
  });

  test.concurrent("equal questions to a source that never answers wait once, not one after the other", async () => {
    const { keys } = await service.account(100_000);
    const before = service.sources.runs;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask(keys[0]!, "legal_cases", "hang together")),
    );
    expect(answers.map(({ body }) => body.code)).toEqual(Array(8).fill("upstream_timeout"));
    expect(service.sources.runs - before).toBeLessThan(8);
    await expectWholeBalance(keys[0]!);
  });

  test.each([
    ["a wrong parameter", { operation: "legal_cases", params: { nothing: "x" } }, 400],
    ["an unknown operation", { operation: "legal_none" }, 400],
  ])("%s never reaches the ledger", async (_name, body, status) => {
    const { keys } = await service.account(100_000);
    expect((await service.call("/v1/data/query", { key: keys[0]!, body })).status).toBe(status);
    expect(await service.ledger(keys[0]!)).toEqual([["topup", 100_000]]);
  });

  test("an error is not cached: the next call asks the source again", async () => {
    const { keys } = await service.account(100_000);
    const before = service.sources.runs;
    await ask(keys[0]!, "legal_cases", "fail:upstream_error again");
    await ask(keys[0]!, "legal_cases", "fail:upstream_error again");
    expect(service.sources.runs - before).toBe(2);
  });
});

test("too low a balance is 402 with the numbers and without any data", async () => {
  const { keys } = await service.account(4_000);
  const answer = await ask(keys[0]!, "legal_cases", "found");
  expect(answer).toMatchObject({
    status: 402,
    body: {
      code: "insufficient_balance",
      required: 5_000,
      balance: 4_000,
      shortfall: 1_000,
      top_up_url: "/console/top-up",
      retryable: false,
    },
  });
  expect(answer.body).not.toHaveProperty("data");
});

describe("the cache", () => {
  test("costs half for the same account only; another account pays the list price and sees MISS", async () => {
    const one = await service.account(100_000);
    const two = await service.account(100_000);
    const before = service.sources.runs;
    const first = await ask(one.keys[0]!, "legal_cases", "found shared");
    const other = await ask(two.keys[0]!, "legal_cases", "found shared");
    const repeat = await ask(two.keys[0]!, "legal_cases", "found shared");
    expect(service.sources.runs - before).toBe(1);
    expect(first.body.usage.tokens).toBe(5_000);
    expect(other.body.usage).toMatchObject({ tokens: 5_000, cached: false, reason: null });
    expect(other.headers.get("x-cache")).toBe("MISS");
    expect(other.headers.get("age")).toBeNull();
    expect(repeat.body.usage).toMatchObject({ tokens: 2_500, cached: true });
    expect(repeat.body.data).toEqual(first.body.data);
  });

  test("expires after its time", async () => {
    const { keys } = await service.account(100_000);
    await ask(keys[0]!, "legal_cases", "found ageing");
    service.nowMs += 86_400_000 - 1_000;
    expect((await ask(keys[0]!, "legal_cases", "found ageing")).body.usage.tokens).toBe(2_500);
    service.nowMs += 2_000;
    expect((await ask(keys[0]!, "legal_cases", "found ageing")).body.usage.tokens).toBe(5_000);
  });

  test("expires for everybody at the same time, also for those who asked later", async () => {
    const [one, two, three] = [
      await service.account(100_000),
      await service.account(100_000),
      await service.account(100_000),
    ];
    const priceFor = async ({ keys }: typeof one) =>
      (await ask(keys[0]!, "legal_cases", "short")).body.usage.tokens;
    expect(await priceFor(one)).toBe(5_000);
    service.nowMs += 300_000;
    expect(await priceFor(two)).toBe(5_000);
    service.nowMs += 301_000;
    expect(await priceFor(three)).toBe(5_000);
    service.nowMs += 300_000;
    expect(await priceFor(two)).toBe(5_000);
  });

  test("does not contain unpaid answers: after a hold expired, the same question costs the list price", async () => {
    const { keys } = await service.account(100_000);
    service.sources.onRun = async () =>
      void (await recover(service.database, new Date(service.nowMs + 200_000)));
    expect((await ask(keys[0]!, "legal_cases", "found late")).status).toBe(503);
    service.sources.onRun = () => {};
    expect((await ask(keys[0]!, "legal_cases", "found late")).body.usage.tokens).toBe(5_000);
    expect((await service.ledger(keys[0]!)).map(([kind]) => kind)).toEqual([
      "topup",
      "hold",
      "void",
      "hold",
      "capture",
    ]);
  });

  test("that cannot be written does not fail a paid call", async () => {
    const one = await service.account(100_000);
    const two = await service.account(100_000);
    await ask(two.keys[0]!, "legal_cases", "found unkept");
    await queryAsOwner(
      service.database,
      "alter table asked add constraint full_disk check (false) not valid",
    );
    try {
      for (const question of ["found unkept", "found unkept too"]) {
        const answer = await ask(one.keys[0]!, "legal_cases", question);
        expect(answer).toMatchObject({ status: 200, body: { usage: { tokens: 5_000 } } });
      }
    } finally {
      await queryAsOwner(service.database, "alter table asked drop constraint full_disk");
    }
    expect(service.log()).toContain("could not store an answer for retries");
  });

  test("does not apply to research: each call costs 500", async () => {
    const { keys } = await service.account(100_000);
    for (let i = 0; i < 3; i++) {
      const answer = await ask(keys[0]!, "research_paper_search", "found research");
      expect(answer.body.usage).toMatchObject({ tokens: 500, cached: false });
    }
  });

  test("of simultaneous equal questions one reaches the source: the first pays the list price, others of the account half", async () => {
    const { keys } = await service.account(100_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    service.sources.onRun = () => promise;
    const before = service.sources.runs;
    const asked = Array.from({ length: 5 }, () => ask(keys[0]!, "legal_cases", "found flight"));
    setTimeout(resolve, 150);
    const answers = await Promise.all(asked);
    service.sources.onRun = () => {};
    expect(service.sources.runs - before).toBe(1);
    expect(answers.map((answer) => answer.body.usage.tokens).sort()).toEqual([
      2_500, 2_500, 2_500, 2_500, 5_000,
    ]);
  });
});

describe("an Idempotency-Key", () => {
  const headers = { "idempotency-key": "order-77" };

  test("gives a retry the same data, charged once, with its own request ID", async () => {
    const { keys } = await service.account(100_000);
    const first = await ask(keys[0]!, "legal_cases", "found idempotent", {}, headers);
    const again = await ask(keys[0]!, "legal_cases", "found idempotent", {}, headers);
    expect(again.body.data).toEqual(first.body.data);
    expect(again.body.usage).toMatchObject({
      tokens: 0,
      reason: "replayed",
      balance: first.body.usage.balance,
    });
    expect(again.body.request_id).not.toBe(first.body.request_id);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await service.ledger(keys[0]!)).toHaveLength(3);
  });

  test("belongs to one account", async () => {
    const one = await service.account(100_000);
    const two = await service.account(100_000);
    await ask(one.keys[0]!, "legal_cases", "found own", {}, headers);
    const other = await ask(two.keys[0]!, "legal_cases", "found own", {}, headers);
    expect(other.body.usage.tokens).toBe(5_000);
  });

  test("with a different question is 422", async () => {
    const { keys } = await service.account(100_000);
    await ask(keys[0]!, "legal_cases", "found one", {}, headers);
    const answer = await ask(keys[0]!, "legal_cases", "found two", {}, headers);
    expect(answer).toMatchObject({ status: 422, body: { code: "idempotency_mismatch" } });
  });

  test("in ten simultaneous calls: one is charged, nine are replays", async () => {
    const { keys } = await service.account(100_000);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ask(keys[0]!, "legal_cases", "found twins", {}, headers)),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(200));
    expect(answers.filter((answer) => answer.body.usage.reason === "replayed")).toHaveLength(9);
    expect((await service.call("/v1/balance", { key: keys[0]! })).body.balance).toBe(95_000);
  });

  test("is free again after 5xx and 402; a 404 is stored", async () => {
    const { keys } = await service.account(6_000);
    service.sources.onRun = () => {
      throw new Error("once");
    };
    expect((await ask(keys[0]!, "legal_cases", "found later", {}, headers)).status).toBe(500);
    service.sources.onRun = () => {};
    expect((await ask(keys[0]!, "legal_cases", "found later", {}, headers)).body.usage.tokens).toBe(5_000);
    const poor = { "idempotency-key": "poor" };
    expect((await ask(keys[0]!, "legal_cases", "found poor", {}, poor)).status).toBe(402);
    const { id } = (await service.call("/v1/account", { key: keys[0]! })).body;
    await service.call(`/admin/v1/accounts/${id}/adjust`, { body: { tokens: 50_000, reason: "test" } });
    expect((await ask(keys[0]!, "legal_cases", "found poor", {}, poor)).status).toBe(200);
    const gone = { "idempotency-key": "gone" };
    const before = service.sources.runs;
    expect((await ask(keys[0]!, "content_keyword_index", "missing", {}, gone)).status).toBe(404);
    const replayed = await ask(keys[0]!, "content_keyword_index", "missing", {}, gone);
    expect(replayed.status).toBe(404);
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
    expect(service.sources.runs - before).toBe(1);
    // The same holds for an error of the source that a retry cannot change.
    const tail = { "idempotency-key": "tail" };
    for (const replayed of [null, "true"]) {
      const refused = await ask(keys[0]!, "legal_cases", "fail:verification_required", {}, tail);
      expect(refused.status).toBe(422);
      expect(refused.headers.get("idempotent-replayed")).toBe(replayed);
    }
  });

  test("that recovery gave to a retry has the outcome of the retry alone", async () => {
    const { keys } = await service.account(100_000);
    const { id } = (await service.call("/v1/account", { key: keys[0]! })).body;
    const recovered = { "idempotency-key": "recovered" };
    for (const value of ["found", "missing"]) {
      const run = Promise.withResolvers<void>();
      const isRunning = Promise.withResolvers<void>();
      service.sources.onRun = () => {
        isRunning.resolve();
        return run.promise;
      };
      const first = ask(keys[0]!, "content_keyword_index", value, {}, recovered);
      await isRunning.promise;
      // What recovery does where a service seems dead.
      const freed = "delete from idempotency where account_id = $1 and outcome is null";
      expect((await service.database.pool.query(freed, [id])).rowCount).toBe(1);
      service.sources.onRun = () => {};
      const retry = await ask(keys[0]!, "content_keyword_index", value, { cache: "bypass" }, recovered);
      run.resolve();
      expect((await first).body).toMatchObject({ code: "unavailable" });
      expect(retry.status).toBe(value === "found" ? 200 : 404);
      await service.database.pool.query("delete from idempotency where account_id = $1", [id]);
    }
    const ledger = await service.ledger(keys[0]!);
    expect(ledger.filter(([kind]) => kind === "capture")).toHaveLength(1);
    expect(ledger.filter(([kind]) => kind === "void")).toHaveLength(3);
  });
});

test("a client that disconnects is not charged; with an Idempotency-Key the answer is kept for the retry", async () => {
  const { keys } = await service.account(100_000);
  const leave = async (headers: Record<string, string>, value: string) => {
    const running = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    service.sources.onRun = () => {
      running.resolve();
      return release.promise;
    };
    const controller = new AbortController();
    const left = fetch(`${service.url}/v1/data/query`, {
      method: "POST",
      signal: controller.signal,
      headers: { authorization: `Bearer ${keys[0]}`, "content-type": "application/json", ...headers },
      body: JSON.stringify({ operation: "legal_cases", params: { query: value } }),
    }).catch(() => "left");
    await running.promise;
    controller.abort();
    expect(await left).toBe("left");
    // The answer to a later request shows that the service has seen the abort.
    await service.call("/v1/balance", { key: keys[0]! });
    await service.call("/v1/balance", { key: keys[0]! });
    release.resolve();
    service.sources.onRun = () => {};
  };
  await leave({}, "found left");
  await expect
    .poll(() => service.ledger(keys[0]!))
    .toEqual([
      ["topup", 100_000],
      ["hold", -5_000],
      ["void", 5_000],
    ]);
  await leave({ "idempotency-key": "left" }, "found kept");
  await expect.poll(async () => (await service.ledger(keys[0]!)).length).toBe(5);
  const retry = await ask(keys[0]!, "legal_cases", "found kept", {}, { "idempotency-key": "left" });
  expect(retry.body.usage).toMatchObject({ tokens: 0, reason: "replayed", balance: 95_000 });
});

test("usage sums to the ledger, by day, operation and key, and in CSV", async () => {
  const { keys, id } = await service.account(1_000_000, { keys: 2 });
  await ask(keys[0]!, "legal_cases", "found usage");
  await ask(keys[1]!, "legal_cases", "found usage");
  await ask(keys[0]!, "legal_cases", "throw usage");
  await ask(keys[0]!, "enterprise_shixin_check", "empty usage");
  await service.call("/v1/data/query", { key: keys[0]!, body: { operation: "nothing" } });
  service.nowMs += 86_400_000;
  const reversed = await ask(keys[1]!, "research_paper_search", "found usage");
  const refund = { request_id: reversed.body.request_id, tokens: 500, reason: "wrong data" };
  expect((await service.call("/admin/v1/refunds", { body: refund })).body.request_id).toBe(refund.request_id);
  expect((await service.call("/admin/v1/refunds", { body: refund })).status).toBe(409);
  const usage = (await service.call("/v1/usage?group_by=day,operation", { key: keys[0]! })).body.data;
  const sum = usage.reduce((total: number, row: { tokens: number }) => total + row.tokens, 0);
  const balance = (await service.call("/v1/balance", { key: keys[0]! })).body.balance;
  expect(sum).toBe(1_000_000 - balance);
  expect(sum).toBe(5_000 + 2_500 + 10_000);
  expect(usage).toContainEqual(
    expect.objectContaining({
      operation: "legal_cases",
      calls: 3,
      billed_calls: 2,
      cached_calls: 1,
      tokens: 7_500,
    }),
  );
  const byKey = (await service.call("/v1/usage?group_by=key", { key: keys[0]! })).body.data;
  expect(byKey.map((row: { tokens: number }) => row.tokens).sort()).toEqual([15_000, 2_500].sort());
  const csv = (await service.call("/v1/usage.csv?group_by=operation", { key: keys[0]! })).text
    .trim()
    .split("\r\n");
  expect(csv[0]).toBe("operation,calls,billed_calls,cached_calls,failed_calls,tokens");
  expect(csv.slice(1).reduce((total, line) => total + Number(line.split(",").at(-1)), 0)).toBe(sum);
  const requests = (await service.call("/v1/requests", { key: keys[0]! })).body.data;
  expect(requests).toHaveLength(6);
  const one = (await service.call(`/v1/requests/${refund.request_id}`, { key: keys[0]! })).body;
  expect(one.entries.map((entry: { kind: string }) => entry.kind)).toEqual(["hold", "capture", "reverse"]);
  const foreign = await service.account(0);
  expect((await service.call(`/v1/requests/${refund.request_id}`, { key: foreign.keys[0]! })).status).toBe(
    404,
  );
  expect(id).toMatch(/^acc_/);
});

test("a new price is charged when it takes effect, and every public page shows it", async () => {
  const { keys } = await service.account(100_000);
  const price = {
    operation: "research_journal_search",
    tokens: 777,
    cached_tokens: null,
    effective_from: new Date(service.nowMs + 120_000).toISOString(),
  };
  expect((await service.call("/admin/v1/prices", { body: price })).status).toBe(201);
  const told = async () => ({
    charged: (await ask(keys[0]!, price.operation, "found priced")).body.usage.tokens,
    catalog: (await service.call(`/v1/catalog/${price.operation}`)).body.price.tokens,
    older: (await service.call("/capabilities.json")).body.capabilities.find(
      (one: { operation: string }) => one.operation === price.operation,
    ).units,
    agents: /research_journal_search\).*; (\d+) tokens\./.exec((await service.call("/llms.txt")).text)?.[1],
  });
  expect(await told()).toEqual({ charged: 500, catalog: 500, older: 500, agents: "500" });
  service.nowMs += 180_000;
  expect(await told()).toEqual({ charged: 777, catalog: 777, older: 777, agents: "777" });
});

test("the sum of all ledger pages is the balance", async () => {
  const { keys } = await service.account(1_000_000);
  for (let i = 0; i < 4; i++) await ask(keys[0]!, "legal_cases", `found page ${i}`);
  let sum = 0;
  let cursor: string | null = "";
  for (let pages = 0; cursor !== null && pages < 10; pages++) {
    const { body } = await service.call(`/v1/ledger?limit=2${cursor && `&cursor=${cursor}`}`, {
      key: keys[0]!,
    });
    for (const line of body.data) sum += line.tokens;
    cursor = body.next_cursor;
  }
  expect(sum).toBe((await service.call("/v1/balance", { key: keys[0]! })).body.balance);
});

describe("a dq_test_ key", () => {
  let key: string;
  beforeAll(async () => {
    key = (await service.call("/v1/keys", { body: { mode: "test" } })).body.key;
  });

  test("gets answers and is never charged", async () => {
    const before = (await service.call("/v1/balance")).body;
    const answer = await ask(key, "legal_cases", "found");
    expect(answer.body.usage).toMatchObject({
      tokens: 0,
      list_tokens: 5_000,
      billed: false,
      reason: "sandbox",
    });
    expect((await service.call("/v1/balance")).body).toEqual(before);
  });

  test.each(Object.keys(errors).filter((code) => code !== "client_closed_request"))(
    "gets %s on demand",
    async (code) => {
      const answer = await ask(key, "legal_cases", `sandbox:${code}`);
      const row = errors[code as keyof typeof errors];
      expect(answer).toMatchObject({ status: row.status, body: { code, retryable: row.retryable } });
      expect(answer.body.detail + answer.body.next_action).not.toMatch(/[{}]|undefined/);
    },
  );

  test("can ask for a retry_after, a cache hit, an empty list and a delay", async () => {
    const late = await ask(key, "legal_cases", "sandbox:rate_limited:7");
    expect(late.body.retry_after).toBe(7);
    expect(late.headers.get("retry-after")).toBe("7");
    const hit = await ask(key, "legal_cases", "sandbox:cache_hit");
    expect(hit.body.usage.cached).toBe(true);
    expect(hit.headers.get("x-cache")).toBe("HIT");
    expect((await ask(key, "legal_cases", "sandbox:empty")).body.data).toEqual([]);
    expect((await ask(key, "legal_cases", "sandbox:delay:1")).status).toBe(200);
    const wrong = await ask(key, "legal_cases", "sandbox:nonsense");
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: "params.query" } } });
  });

  test("has magic values for parameters of every format", async () => {
    const body = { operation: "enterprise_company_detail", params: { tax_id: "sandbox:not_found" } };
    expect((await service.call("/v1/data/query", { key, body })).status).toBe(404);
    const flat = { operation: "content_hot_rank", platform: "sandbox:cache_hit" };
    expect((await service.call("/v1/data/query", { key, body: flat })).body.usage.cached).toBe(true);
  });
});

/** The parameter of the invoice check has a format, so it cannot contain the script. */
function scriptedInvoice(find: InProcessService["sources"]["find"]): InProcessService["sources"]["find"] {
  return (name) => {
    const source = find(name);
    if (name !== "enterprise_tax_invoice" || !source) return source;
    return {
      ...source,
      run: (_params, page, context) => source.run({ invoice_code: "lacking" }, page, context),
    };
  };
}

test("warnings come in the language of each caller: from the cache, in a retry and among several", async () => {
  const { keys } = await service.account(200_000);
  const en = [
    "params.cuort is not a parameter; it was ignored.",
    'No record has ,"warnings":[, 望远镜; the other words were searched.',
  ];
  const zh = [
    "参数 params.cuort 不存在，已忽略。",
    '没有记录含有“,"warnings":[、望远镜”，已用其余的词检索。',
  ];
  const query = (value: string) => ({ operation: "legal_laws", params: { query: value, cuort: "x" } });
  const send = (language: string, body: object, more: Record<string, string> = {}) =>
    service.call("/v1/data/query", {
      key: keys[0]!,
      body,
      headers: { prefer: "handling=lenient", "accept-language": language, ...more },
    });
  const retry = { "idempotency-key": "warned" };
  const first = await send("zh-CN,zh;q=0.9", query("warned"), retry);
  expect(first.body).toMatchObject({ warnings: zh, usage: { reason: null } });
  expect(first.headers.get("vary")).toContain("Accept-Language");
  expect((await send("en", query("warned"), retry)).body).toMatchObject({
    warnings: en,
    usage: { reason: "replayed" },
  });
  expect((await send("fr", query("warned"))).body).toMatchObject({
    warnings: en,
    usage: { reason: "cache_hit" },
  });
  const some = (await send("zh", { ...query("warned"), fields: ["source"] })).body;
  expect(some).toEqual({ ...first.body, request_id: some.request_id, usage: some.usage });
  expect(some.usage.reason).toBe("cache_hit");
  const csv = await fetch(`${service.url}/v1/data/query`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${keys[0]!}`,
      "content-type": "application/json",
      accept: "text/csv",
      "accept-language": "zh",
      prefer: "handling=lenient",
    },
    body: JSON.stringify(query("warned")),
  });
  expect(JSON.parse(csv.headers.get("x-warnings")!)).toEqual(zh);
  const several = { queries: [query("warned"), query("found")] };
  for (const [language, told] of [
    ["zh", zh],
    ["en", en],
  ] as const) {
    const { data } = (await send(language, several, { "idempotency-key": "warned several" })).body;
    expect(data.map(({ warnings }: { warnings: string[] }) => warnings)).toEqual([told, told.slice(0, 1)]);
  }
});
