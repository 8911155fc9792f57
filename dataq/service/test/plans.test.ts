import { chinaDate, operations } from "@dataq/contract";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../src/ledger/verify.ts";
import { isEmbedded, queryAsOwner } from "./data-folder.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Row = any;

let service: InProcessService;
const DAY = 86_400_000;

beforeAll(async () => {
  service = await startInProcess();
});
afterAll(() => service?.[Symbol.asyncDispose]());

let serial = 0;
/** A question that nobody has asked before, which finds a record. */
const fresh = (operation = "legal_laws") => ({ operation, params: { query: `found plan ${++serial}` } });

/** An account whose key may redeem coupons. */
async function payer(): Promise<{ id: string; keys: string[] }> {
  const { id } = await service.account(40_000_000, { keys: 0 });
  const body = { scopes: ["data:query", "read:account", "manage:billing"] };
  return { id, keys: (await post(`/admin/v1/accounts/${id}/keys`, body)).keys };
}

const post = async (path: string, body: object) => {
  const { status, body: answer } = await service.call(path, { body });
  expect(status, JSON.stringify(answer)).toBe(201);
  return answer;
};
const soon = () => new Date(service.nowMs + 60_000).toISOString();
const pass = (ms: number) => {
  service.nowMs += ms;
};
const ask = async (key: string, body: object) => (await service.call("/v1/data/query", { key, body })).body;

test("a price of one account counts from its time on, in the estimate, the call, the account's list and no other account", async () => {
  const one = await service.account(1_000_000);
  const other = await service.account(1_000_000);
  const key = one.keys[0]!;
  const list = (await ask(key, fresh())).usage.tokens;
  await post(`/admin/v1/accounts/${one.id}/prices`, {
    operation: "legal_laws",
    tokens: 777,
    cached_tokens: 333,
    effective_from: soon(),
  });
  const known = fresh();
  expect((await ask(key, known)).usage).toMatchObject({ tokens: list, reason: null });
  pass(60_000);
  const estimated = (await service.call("/v1/data/estimate", { key, body: fresh() })).body;
  expect(estimated).toMatchObject({ tokens: 777, reason: "account_price" });
  expect((await ask(key, fresh())).usage).toMatchObject({
    tokens: 777,
    list_tokens: list,
    billed: true,
    reason: "account_price",
  });
  expect((await ask(key, known)).usage).toMatchObject({ tokens: 333, reason: "cache_hit", cached: true });
  expect((await ask(other.keys[0]!, fresh())).usage).toMatchObject({ tokens: list, reason: null });
  const own = (await service.call("/v1/prices", { key })).body.data;
  expect(own).toHaveLength(operations.length);
  expect(own.find((row: Row) => row.operation === "legal_laws")).toMatchObject({
    tokens: 777,
    cached_tokens: 333,
    list_tokens: list,
    reason: "account_price",
  });
  // Several queries in one call name the price in their note, too.
  const several = await ask(key, { queries: [fresh(), fresh()] });
  expect(several.usage).toMatchObject({ tokens: 1_554, list_tokens: 2 * list });
  // Back to the list.
  await post(`/admin/v1/accounts/${one.id}/prices`, {
    operation: "legal_laws",
    tokens: null,
    cached_tokens: null,
    effective_from: soon(),
  });
  pass(60_000);
  expect((await ask(key, fresh())).usage).toMatchObject({ tokens: list, reason: null });
  await booksAreRight();
});

test("the free tier gives so many calls a day, also to callers at once, and a call without an answer does not count", async () => {
  const { keys } = await service.account(1_000_000);
  const key = keys[0]!;
  await post("/admin/v1/free-tiers", { operation: "legal_laws", calls: 3, effective_from: soon() });
  pass(60_000);
  const limits = (await service.call("/v1/pricing", { key: null })).body.free_calls;
  expect(limits).toEqual([expect.objectContaining({ operation: "legal_laws", calls: 3, version: 1 })]);
  const estimates = { queries: [fresh(), fresh(), fresh(), fresh(), fresh()] };
  const estimated = (await service.call("/v1/data/estimate", { key, body: estimates })).body;
  expect(estimated.data.map((one: Row) => one.reason ?? "paid")).toEqual([
    "free_tier",
    "free_tier",
    "free_tier",
    "paid",
    "paid",
  ]);
  const say = (query: string) => ask(key, { operation: "legal_laws", params: { query } });
  expect((await say("fail:upstream_error now")).code).toBe("upstream_error");
  expect((await say("past_end now")).usage.reason).toBe("no_result");
  const before = (await service.call("/v1/balance", { key })).body.balance;
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(key, fresh())));
  const free = answers.filter(({ usage }) => usage.reason === "free_tier");
  expect(free).toHaveLength(3);
  expect(free.every(({ usage }) => usage.tokens === 0 && usage.list_tokens > 0)).toBe(true);
  const paid = answers.reduce((sum, { usage }) => sum + usage.tokens, 0);
  expect((await service.call("/v1/balance", { key })).body.balance).toBe(before - paid);
  const own = (await service.call("/v1/prices", { key })).body.data;
  expect(own.find((row: Row) => row.operation === "legal_laws")).toMatchObject({
    free_calls: 3,
    free_left: 0,
  });
  pass(DAY);
  const several = await ask(key, { queries: [fresh(), fresh(), fresh(), fresh(), fresh()] });
  expect(several.data.map((one: Row) => one.usage.reason)).toEqual(
    expect.arrayContaining(["free_tier", "free_tier", "free_tier", null, null]),
  );
  expect(several.data.filter((one: Row) => one.usage.reason === "free_tier")).toHaveLength(3);
  await post("/admin/v1/free-tiers", { operation: "legal_laws", calls: 0, effective_from: soon() });
  pass(60_000);
});

test("a coupon is redeemed once by an account and by no more accounts than it allows", async () => {
  await post("/admin/v1/coupons", { code: "spring26", kind: "percent", value: 25, days: 2, most: 2 });
  await post("/admin/v1/coupons", { code: "GIFT2026", kind: "tokens", value: 70_001, days: 5 });
  const redeem = (key: string, code: string) => service.call("/v1/vouchers/redeem", { key, body: { code } });
  const accounts = await Promise.all(Array.from({ length: 4 }, payer));
  const tries = await Promise.all(
    accounts.flatMap(({ keys }) => [redeem(keys[0]!, "SPRING26"), redeem(keys[0]!, " spring26 ")]),
  );
  expect(tries.filter(({ status }) => status === 200)).toHaveLength(2);
  expect(new Set(tries.filter(({ status }) => status !== 200).map(({ body }) => body.code))).toEqual(
    new Set(["invalid_voucher"]),
  );
  const winner = accounts[Math.floor(tries.findIndex(({ status }) => status === 200) / 2)]!;
  const key = winner.keys[0]!;
  const gift = await redeem(key, "gift2026");
  expect(gift.body).toMatchObject({ tokens: 70_001, trial_balance: 70_001 });
  expect((await redeem(key, "gift2026")).body.code).toBe("invalid_voucher");
  const list = (await ask(key, fresh())).usage.tokens;
  pass(60_000);
  expect((await ask(key, fresh())).usage).toMatchObject({ tokens: Math.ceil(list * 0.75), reason: "coupon" });
  pass(2 * DAY);
  expect((await ask(key, fresh())).usage).toMatchObject({ tokens: list, reason: null });
  pass(3 * DAY);
  const rest = (await ask(key, fresh())).usage;
  expect(rest.trial_balance).toBe(0);
  expect(await service.ledger(key)).toEqual(
    expect.arrayContaining([
      ["grant", 70_001],
      ["expire", expect.any(Number)],
    ]),
  );
  await booksAreRight();
});

interface Step {
  readonly kind: "list" | "own" | "ladder" | "coupon" | "free" | "call" | "several" | "night";
  readonly account: number;
  readonly size: number;
}
const step = fc.record<Step>({
  kind: fc.constantFrom(
    "list",
    "own",
    "ladder",
    "coupon",
    "free",
    "call",
    "call",
    "call",
    "several",
    "night",
  ),
  account: fc.nat(2),
  size: fc.nat(9),
});

test("any past call can be computed again from the tables, whatever was announced before and after it", async () => {
  const accounts = await Promise.all(Array.from({ length: 3 }, payer));
  const names = ["legal_laws", "enterprise_search"].filter((name) =>
    operations.some((operation) => operation.name === name),
  );
  const play = async ({ kind, account, size }: Step) => {
    const { id, keys } = accounts[account]!;
    const operation = names[size % names.length]!;
    const from = { effective_from: new Date(service.nowMs + 60_000 * (1 + size)).toISOString() };
    if (kind === "list")
      await post("/admin/v1/prices", {
        operation,
        tokens: 1_000 + 137 * size,
        cached_tokens: 500 + size,
        ...from,
      });
    if (kind === "own")
      await post(`/admin/v1/accounts/${id}/prices`, {
        operation,
        tokens: size === 0 ? null : 311 * size,
        cached_tokens: null,
        ...from,
      });
    if (kind === "ladder")
      await post("/admin/v1/volume-ladders", {
        steps: [
          { from_tokens: 1 + 900 * size, percent: 3 + size },
          { from_tokens: 9_001 + 900 * size, percent: 20 + size },
        ].slice(size % 3 === 0 ? 1 : 0),
        ...from,
      });
    if (kind === "free") await post("/admin/v1/free-tiers", { operation, calls: size % 3, ...from });
    if (kind === "coupon") {
      const code = `P${++serial}X${size}`;
      await post("/admin/v1/coupons", { code, kind: "percent", value: 1 + 9 * size, days: 1 + size });
      expect((await service.call("/v1/vouchers/redeem", { key: keys[0]!, body: { code } })).status).toBe(200);
    }
    if (kind === "call") {
      const estimated = (await service.call("/v1/data/estimate", { key: keys[0]!, body: fresh() })).body;
      const { usage } = await ask(keys[0]!, fresh());
      expect([usage.tokens, usage.reason]).toEqual([estimated.tokens, estimated.reason ?? null]);
    }
    if (kind === "several") await ask(keys[0]!, { queries: [fresh(), fresh(), fresh()] });
    if (kind === "night") pass(DAY - 7_000 * size);
    pass(61_000);
  };
  // The first ladder counts before the first of the random ones, so that each account has a day with a discount.
  for (const kind of ["ladder", "call", "night", "call"] as const)
    for (const account of kind === "ladder" ? [0] : [0, 1, 2]) await play({ kind, account, size: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 100, maxLength: 100 }), async (steps) => {
      for (const one of steps) await play(one);
    }),
    { numRuns: 1, seed: 42, endOnFailure: true },
  );
  const wrong = await recompute();
  expect(wrong).toEqual([]);
  await booksAreRight();
}, 180_000);

test("prices of all three kinds were used, and one that somebody changes is a breach", async () => {
  const found = await service.database.query<{ source: string }>("select distinct source from special_price");
  expect(found.rows.map(({ source }) => source).sort()).toEqual([
    "account_price",
    "coupon",
    "volume_discount",
  ]);
  // The service itself cannot: it may only add to this table.
  if (!isEmbedded) return;
  await queryAsOwner(
    service.database,
    "update special_price set tokens = tokens - 1 where version = (select price_version from entry where kind = 'capture' and price_version > 1000000 limit 1)",
  );
  const { findings } = await verifyLedger(service.database, "whole", new Date(service.nowMs));
  const broken = findings.filter(({ breaches }) => breaches.length > 0);
  expect(new Set(broken.map(({ law }) => law))).toEqual(new Set(["L6"]));
  expect(broken.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^a special price is/));
});

async function booksAreRight(): Promise<void> {
  const { findings } = await verifyLedger(service.database, "whole", new Date(service.nowMs));
  expect(findings.flatMap(({ law, breaches }) => breaches.map((breach) => `${law} ${breach}`))).toEqual([]);
}

/**
 * Computes the price of every charged call again, from what was announced and what the ledger says, and by other means
 * than the service: with the rows in force at the time of the hold.
 */
async function recompute(): Promise<string[]> {
  const rows = async (sql: string) => (await service.database.query<Row>(sql)).rows;
  const lists = await rows("select * from price order by version");
  const owns = await rows("select * from account_price order by version");
  const ladders = await rows("select * from volume_ladder order by version");
  const discounts = await rows("select * from discount");
  const entries = await rows("select * from entry order by account_id, seq");
  const wrong: string[] = [];
  const last = (versions: Row[], at: Date) => versions.filter((one) => one.effective_from <= at).at(-1);
  const priceAt = (account: string, operation: string, at: Date, isCached: boolean) => {
    const pick = (one: Row) => (isCached ? one.cached_tokens : one.tokens);
    const list = last(
      lists.filter((one) => one.operation === operation),
      at,
    );
    const own = last(
      owns.filter((one) => one.account_id === account && one.operation === operation),
      at,
    );
    if (own && own.tokens !== null) return pick(own) ?? own.tokens;
    const day = chinaDate(at);
    // What the account was charged in this month before this day.
    const spent = entries
      .filter(
        (one) =>
          one.account_id === account &&
          chinaDate(one.at) < day &&
          chinaDate(one.at).slice(0, 7) === day.slice(0, 7),
      )
      .reduce((sum, one) => sum + one.earnings, 0);
    const steps = last(ladders, at)?.steps ?? [];
    const byVolume = steps.filter((one: Row) => one.from_tokens <= spent).at(-1)?.percent ?? 0;
    const byCoupon = discounts
      .filter((one) => one.account_id === account && one.effective_from <= at && at < one.effective_until)
      .map((one) => one.percent);
    const percent = Math.max(byVolume, 0, ...byCoupon);
    const price = pick(list);
    return price - Math.floor((price * percent) / 100);
  };
  let computed = 0;
  for (const capture of entries.filter(({ kind }) => kind === "capture")) {
    const hold = entries.find((one) => one.kind === "hold" && one.request_id === capture.request_id);
    const parts = [...capture.note.matchAll(/(\w+) v(\d+)( cached)? × (\d+): (\d+)/g)];
    const due =
      parts.length === 0
        ? priceAt(hold.account_id, hold.operation, hold.at, hold.cached)
        : parts.reduce(
            (sum, [, name, , cached, count]) =>
              sum + Number(count) * priceAt(hold.account_id, name!, hold.at, cached !== undefined),
            0,
          );
    computed += 1;
    if (due !== capture.earnings) wrong.push(`${capture.request_id}: ${capture.earnings}, not ${due}`);
  }
  expect(computed).toBeGreaterThan(30);
  return wrong;
}
