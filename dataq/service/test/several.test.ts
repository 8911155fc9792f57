import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyBooks } from "../src/accounts/verify.ts";
import { recover } from "../src/ledger/instance.ts";
import { queryAsOwner } from "./data-folder.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess();
}, 60_000);
afterAll(() => service?.[Symbol.asyncDispose]());

const law = (query: string, more: object = {}) => ({ operation: "legal_laws", params: { query }, ...more });
const paper = (query: string) => ({ operation: "research_paper_search", params: { query } });
const debtor = (company_name: string) => ({ operation: "enterprise_shixin_check", params: { company_name } });

async function wallet(tokens = 1_000_000, options: object = {}) {
  const { keys } = await service.account(tokens, options);
  const key = keys[0]!;
  return {
    key,
    ask: (body: object, headers: Record<string, string> = {}) =>
      service.call("/v1/data/query", { key, body, headers }),
    balance: async () => (await service.call("/v1/balance", { key })).body,
    ledger: async () => (await service.ledger(key)).slice(1),
  };
}

const broken = async () =>
  (await verifyBooks(service.database)).findings.flatMap(({ breaches }) => [...breaches]);

describe("several queries in one call", () => {
  test("each get their own answer, price and failure, in order, under one hold", async () => {
    const { key, ask, ledger, balance } = await wallet();
    const queries = [
      law("found one"),
      { operation: "no_such_operation" },
      debtor("found two"),
      law("fail:upstream_error three"),
      paper("found four"),
      law("past_end five"),
      { operation: "enterprise_company_detail", params: { tax_id: "91330106MA0000007Q" } },
      law("x", { params: { query: "x", court: "y" } }),
      law("empty nine"),
      law("throw ten"),
      "not an object",
      law("found twelve", { max_tokens: 4_999 }),
      law("found thirteen", { cache: "only" }),
      law("found fourteen", { dry_run: true }),
    ];
    const { status, body, headers } = await ask({ queries });
    expect(status).toBe(200);
    const shown = body.data.map(
      (item: { code?: string; usage?: { tokens: number } }) => item.code ?? item.usage?.tokens,
    );
    expect(shown).toEqual([
      5_000,
      "unknown_operation",
      10_000,
      "upstream_error",
      500,
      0,
      10_000,
      "unknown_parameter",
      5_000,
      "internal_error",
      "invalid_params",
      "price_above_max",
      "not_cached",
      "invalid_params",
    ]);
    expect(body.data[3]).toMatchObject({ status: 502, retryable: true, request_id: body.request_id });
    expect(body.data[7].error.param).toBe("params.court");
    expect(body.usage).toMatchObject({ tokens: 30_500, billed: true, cached: false, balance: 969_500 });
    expect(body.data[0].usage.balance).toBe(969_500);
    expect(headers.get("x-tokens-used")).toBe("30500");
    expect(await ledger()).toEqual([
      ["hold", -45_500],
      ["capture", 15_000],
    ]);
    expect(await balance()).toMatchObject({ balance: 969_500, held: 0 });
    const [capture] = (await service.call("/v1/ledger", { key })).body.data;
    expect(capture).toMatchObject({
      operation: "queries",
      note: "legal_laws v1 × 2: 10000, enterprise_shixin_check v1 × 1: 10000, research_paper_search v1 × 1: 500, enterprise_company_detail v1 × 1: 10000",
    });
    expect(await broken()).toEqual([]);
  });

  test("that are repeated cost half where the cache has them, as the estimate says", async () => {
    const { key, ask, ledger } = await wallet();
    const queries = [law("found cached"), paper("found cached"), law("found other")];
    await ask(law("found cached"));
    const { body: estimate } = await service.call("/v1/data/estimate", { key, body: { queries } });
    const { body } = await ask({ queries });
    expect(body.usage.tokens).toBe(8_000);
    expect(body.usage.tokens).toBe(estimate.tokens);
    expect(body.data.map(({ usage }: { usage: object }) => usage)).toMatchObject([
      { tokens: 2_500, reason: "cache_hit" },
      { tokens: 500, reason: null },
      { tokens: 5_000, reason: null },
    ]);
    const again = await ask({ queries: [law("found other"), law("found cached")] });
    expect(again.body.usage).toMatchObject({ tokens: 5_000, cached: true, reason: "cache_hit" });
    expect(again.headers.get("x-cache")).toBe("HIT");
    expect((await ledger()).reduce((sum, [, tokens]) => sum + tokens, 0)).toBe(-18_000);
    expect(await broken()).toEqual([]);
  });

  test("cost nothing if all fail, and leave no hold", async () => {
    const { ask, ledger, balance } = await wallet();
    const { status, body } = await ask({ queries: [law("fail:upstream_error"), { operation: "x_y" }] });
    expect(status).toBe(200);
    expect(body.usage).toMatchObject({ tokens: 0, billed: false });
    expect(await ledger()).toEqual([
      ["hold", -5_000],
      ["void", 5_000],
    ]);
    expect(await balance()).toMatchObject({ balance: 1_000_000, held: 0 });
    expect((await ask({ queries: [{ operation: "x_y" }] })).body.usage.tokens).toBe(0);
    expect(await ledger()).toHaveLength(2);
  });

  test("are refused as a whole if the balance or max_tokens is below their sum", async () => {
    const { ask, ledger } = await wallet(12_000);
    const before = service.sources.runs;
    const queries = [law("found a"), law("found b"), law("found c")];
    expect((await ask({ queries, max_tokens: 14_999 })).body).toMatchObject({
      code: "price_above_max",
      required: 15_000,
    });
    expect((await ask({ queries })).body).toMatchObject({
      code: "insufficient_balance",
      required: 15_000,
      shortfall: 3_000,
    });
    expect(service.sources.runs).toBe(before);
    expect(await ledger()).toEqual([]);
    expect((await ask({ queries: queries.slice(1), max_tokens: 10_000 })).body.usage.tokens).toBe(10_000);
  });

  test.each([
    [{ queries: [] }, "queries"],
    [{ queries: {} }, "queries"],
    [{ queries: Array(21).fill(law("found")) }, "queries"],
    [{ queries: [law("found")], operation: "legal_laws" }, "operation"],
    [{ queries: [law("found")], dry_run: true }, "dry_run"],
    [{ queries: [law("found")], max_tokens: -1 }, "max_tokens"],
    [{ queries: [law("found")], ["x".repeat(9_000)]: 1 }, "x".repeat(64)],
  ])("%j is 400", async (body, param) => {
    const { ask } = await wallet();
    const answer = await ask(body);
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_params" } });
    expect(answer.body.error.param.startsWith(param)).toBe(true);
  });

  test("have at most 400 records together; a query beyond that fails alone", async () => {
    const { ask } = await wallet();
    const queries = [1, 2, 3].map((page) => law("found", { page, page_size: 200 }));
    const { body } = await ask({ queries });
    expect(body.data.map(({ code = "answered" }) => code)).toEqual([
      "answered",
      "answered",
      "invalid_params",
    ]);
  });
});

test.each([
  ["another price", "legal_laws v1 × 2: 9999"],
  ["another count", "legal_laws v1 × 3: 10000"],
  ["a version that does not exist", "legal_laws v7 × 2: 10000"],
  ["a cached price", "legal_laws v1 cached × 2: 10000"],
  ["no price", "answered"],
])("verify finds a capture whose note has %s", async (_, note) => {
  const { ask } = await wallet();
  const { body } = await ask({ queries: [law(`found ${note}`), law(`found other ${note}`)] });
  expect(await broken()).toEqual([]);
  const rewrite = (text: string) =>
    queryAsOwner(
      service.database,
      "alter table entry disable trigger entries_are_final",
      `update entry set note = '${text}' where request_id = '${body.request_id}' and kind = 'capture'`,
      "alter table entry enable trigger entries_are_final",
    );
  await rewrite(note);
  expect(await broken()).toContain(body.request_id);
  await rewrite("legal_laws v1 × 2: 10000");
  expect(await broken()).toEqual([]);
});

describe("an Idempotency-Key", () => {
  test("covers the whole call, with its failures", async () => {
    const { ask, ledger } = await wallet();
    const headers = { "idempotency-key": "several" };
    const body = { queries: [law("found kept"), law("fail:upstream_error"), { operation: "x_y" }] };
    const first = await ask(body, headers);
    const again = await ask(body, headers);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.body.data.map(({ data, code }: { data: unknown; code: string }) => data ?? code)).toEqual(
      first.body.data.map(({ data, code }: { data: unknown; code: string }) => data ?? code),
    );
    expect(again.body.usage).toMatchObject({ tokens: 0, reason: "replayed" });
    expect(again.body.data[0].usage).toMatchObject({ tokens: 0, reason: "replayed", list_tokens: 5_000 });
    expect(await ledger()).toEqual([
      ["hold", -10_000],
      ["capture", 5_000],
    ]);
    const other = await ask({ queries: body.queries.toReversed() }, headers);
    expect(other.body.code).toBe("idempotency_mismatch");
  });

  test("is free again if nothing was answered and a retry may help", async () => {
    const { ask, balance } = await wallet();
    const headers = { "idempotency-key": "again" };
    const before = service.sources.runs;
    const body = { queries: [law("fail:upstream_error"), law("fail:upstream_timeout")] };
    for (const _ of [1, 2]) expect((await ask(body, headers)).body.usage.tokens).toBe(0);
    expect(service.sources.runs).toBe(before + 4);
    expect(await balance()).toMatchObject({ balance: 1_000_000, held: 0 });
  });

  test("charges two simultaneous calls once", async () => {
    const { ask, balance } = await wallet();
    const headers = { "idempotency-key": "twins" };
    const body = { queries: Array.from({ length: 20 }, (_, n) => paper(`found twin ${n}`)) };
    const answers = await Promise.all([ask(body, headers), ask(body, headers), ask(body, headers)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ body: { usage } }) => usage.tokens).sort()).toEqual([0, 0, 10_000]);
    expect(await balance()).toMatchObject({ balance: 990_000, held: 0 });
  });
});

test("each query counts for the rate, and a call that is dearer than the burst is paid off afterwards", async () => {
  service.nowMs += 3_600_000;
  const { ask } = await wallet(1_000_000, { tier: "trial" });
  const many = (count: number) =>
    ask({ queries: Array.from({ length: count }, (_, n) => paper(`found ${n}`)) });
  expect((await many(8)).status).toBe(200);
  const refused = await many(3);
  expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited", retry_after: 1 } });
  expect((await many(2)).status).toBe(200);
  service.nowMs += 5_000;
  expect((await many(20)).status).toBe(200);
  // 20 queries at 2 a second.
  service.nowMs += 5_000;
  expect((await ask(paper("found"))).status).toBe(429);
  service.nowMs += 500;
  expect((await ask(paper("found"))).status).toBe(200);
});

test("a key's monthly limit holds for the sum, and gets back what was not charged", async () => {
  const made = await service.call("/v1/keys", { body: { monthly_cap: 12_000 } });
  const capped = made.body.key;
  const ask = (queries: object[]) => service.call("/v1/data/query", { key: capped, body: { queries } });
  expect((await ask([law("found 1"), law("found 2"), law("found 3")])).body.code).toBe("spend_limit_reached");
  expect((await ask([law("found 1"), law("fail:upstream_error")])).body.usage.tokens).toBe(5_000);
  expect((await ask([law("found 4")])).body.usage.tokens).toBe(5_000);
  expect((await ask([law("found 5")])).body.data?.[0] ?? "refused").toBe("refused");
});

test("a failed write of the capture charges nothing, and recovery gives the hold back", async () => {
  const { ask, balance } = await wallet();
  await queryAsOwner(
    service.database,
    "create or replace function cut() returns trigger language plpgsql as $$ begin if new.kind = 'capture' then raise 'cut'; end if; return new; end $$",
    "create trigger cut before insert on entry for each row execute function cut()",
  );
  try {
    const body = { queries: [law("found cut"), paper("found cut")] };
    expect((await ask(body, { "idempotency-key": "cut" })).status).toBe(500);
  } finally {
    await queryAsOwner(service.database, "drop trigger cut on entry");
  }
  await recover(service.database, new Date(service.nowMs + 600_000));
  expect(await balance()).toMatchObject({ balance: 1_000_000, held: 0 });
  expect(await broken()).toEqual([]);
});

test("a test key gets samples for each query, and its magic values work for one query alone", async () => {
  const made = await service.call("/v1/keys", { body: { mode: "test" } });
  const { body } = await service.call("/v1/data/query", {
    key: made.body.key,
    body: { queries: [law("found"), law("sandbox:insufficient_balance"), law("sandbox:cache_hit")] },
  });
  expect(
    body.data.map(({ code, usage }: { code?: string; usage?: { reason: string } }) => code ?? usage?.reason),
  ).toEqual(["sandbox", "insufficient_balance", "sandbox"]);
  expect(body.usage).toMatchObject({ tokens: 0, reason: "sandbox" });
});

describe("an answer as CSV or JSON Lines", () => {
  const fetchAs = async (key: string, accept: string, body: object, encoding = "identity") =>
    fetch(`${service.url}/v1/data/query`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "accept-encoding": encoding,
        accept,
      },
      body: JSON.stringify(body),
    });

  test("costs the same, shares the cache, and says price and request in headers", async () => {
    const { key, ledger } = await wallet();
    const csv = await fetchAs(key, "text/csv", law("found list"));
    expect(csv.status).toBe(200);
    expect(csv.headers.get("x-tokens-used")).toBe("5000");
    expect(csv.headers.get("x-request-id")).toMatch(/^req_/);
    expect(csv.headers.get("x-total-pages")).toBe("1");
    expect(csv.headers.get("vary")).toContain("Accept");
    const lines = (await csv.text()).split("\r\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^1,/);
    const jsonl = await fetchAs(key, "application/x-ndjson", law("found list"), "gzip");
    expect(jsonl.headers.get("x-tokens-used")).toBe("2500");
    expect(jsonl.headers.get("x-cache")).toBe("HIT");
    expect(JSON.parse(await jsonl.text())).toMatchObject({ id: "1" });
    expect((await ledger()).map(([, tokens]) => tokens)).toEqual([-5_000, 0, -2_500, 0]);
  });

  test("is refused before anything is charged if no type fits", async () => {
    const { key, ledger } = await wallet();
    const refused = await fetchAs(key, "image/png", law("found none"));
    expect(refused.status).toBe(406);
    expect(await refused.json()).toMatchObject({
      code: "not_acceptable",
      detail: expect.stringContaining("text/csv"),
    });
    for (const body of [{ queries: [law("found")] }, law("found", { dry_run: true })])
      expect((await fetchAs(key, "text/csv", body)).status).toBe(406);
    expect((await fetchAs(key, "text/csv, */*;q=0.1", { queries: [law("found")] })).status).toBe(200);
    expect(
      (await fetchAs(key, "text/csv", law("fail:upstream_error"))).headers.get("content-type"),
    ).toContain("json");
    expect((await ledger()).filter(([kind]) => kind === "capture")).toHaveLength(1);
  });
});

test("fields change neither the price nor the entry in the cache", async () => {
  const { key, ask } = await wallet();
  const runs = service.sources.runs;
  const whole = (await ask(law("found fields"))).body;
  const few = (await ask(law("found fields", { fields: ["law_name"] }))).body;
  const other = (await ask(law("found fields", { fields: ["source"] }))).body;
  expect(service.sources.runs).toBe(runs + 1);
  expect(whole.usage.tokens).toBe(5_000);
  expect([few.usage.tokens, other.usage.tokens]).toEqual([2_500, 2_500]);
  expect(few.data).toEqual([{ id: "1" }]);
  expect(other.data).toEqual([{ id: "1", source: whole.data[0].source }]);
  const body = law("found fields", { fields: ["law_name"] });
  expect((await service.call("/v1/data/estimate", { key, body })).body.tokens).toBe(2_500);
  const headers = { "idempotency-key": "fields" };
  const first = await ask(law("found kept fields", { fields: ["law_name"] }), headers);
  const replayed = await ask(law("found kept fields", { fields: ["law_name"] }), headers);
  expect(replayed.body.data).toEqual(first.body.data);
});
