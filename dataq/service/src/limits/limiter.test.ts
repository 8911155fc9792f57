import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import type { Database } from "../database/database.ts";
import { type Admission, Limiter, limitHeaders } from "./limiter.ts";
import { limitsOf } from "./tier.ts";

let folder: string;
let database: Database;
let limiter: Limiter;
let serial = 0;
const start = Date.parse("2026-03-10T04:00:00Z");

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  limiter = new Limiter(database);
}, 60_000);
afterAll(async () => {
  await database?.close();
  await removeDataFolder(folder);
});

/** A call that ends as soon as it is admitted. */
async function call(accountId: string, atMs: number, over: Partial<Admission> = {}) {
  const requestId = `req_${++serial}`;
  const verdict = await limiter.admit({
    requestId,
    accountId,
    keyId: "key",
    limits: limitsOf("trial"),
    keyPerSecond: null,
    now: new Date(start + atMs),
    day: "2026-03-10",
    ...over,
  });
  if (!verdict.refused) await limiter.end(requestId);
  return verdict;
}

test("a rested account can use its burst at once, then one call per interval", async () => {
  const id = `acc_${++serial}`;
  const remaining: number[] = [];
  for (let i = 0; i < 10; i++) remaining.push((await call(id, 0)).remaining);
  expect(remaining).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  expect(await call(id, 0)).toMatchObject({ refused: "rate_limited", retryAfterS: 1, remaining: 0 });
  expect((await call(id, 499)).refused).toBe("rate_limited");
  expect((await call(id, 500)).refused).toBeNull();
  expect((await call(id, 999)).refused).toBe("rate_limited");
  expect((await call(id, 1_000)).refused).toBeNull();
});

test("a refused call costs nothing of the limit", async () => {
  const id = `acc_${++serial}`;
  for (let i = 0; i < 10; i++) await call(id, 0);
  for (let i = 0; i < 50; i++) expect((await call(id, 400)).refused).toBe("rate_limited");
  expect((await call(id, 500)).refused).toBeNull();
});

test("admits a caller that waits for retry_after, and never refuses one below the promised rate", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 900 }), { minLength: 40, maxLength: 60 }), async (gapsMs) => {
      const id = `acc_${++serial}`;
      // The same arithmetic without a database: the bucket as a level that drains.
      let level = 0;
      let nowMs = 0;
      for (const gapMs of gapsMs) {
        nowMs += gapMs;
        level = Math.max(0, level - (gapMs * 2) / 1000);
        const verdict = await call(id, nowMs);
        expect(verdict.refused === null).toBe(level + 1 <= 10 + 1e-9);
        if (verdict.refused === null) level += 1;
        else {
          nowMs += verdict.retryAfterS * 1000;
          level = Math.max(0, level - verdict.retryAfterS * 2);
          expect((await call(id, nowMs)).refused).toBeNull();
          level += 1;
        }
      }
    }),
    { numRuns: 8, seed: 20_260_310 },
  );
});

test("does not refuse a call because its clock is behind", async () => {
  const id = `acc_${++serial}`;
  const limits = limitsOf("operator");
  expect((await call(id, 5_000, { limits })).refused).toBeNull();
  expect(await call(id, 0, { limits })).toMatchObject({ refused: null, remaining: 4_998 });
});

test("a clock that was an hour ahead does not block the account for an hour", async () => {
  const id = `acc_${++serial}`;
  for (let i = 0; i < 10; i++) await call(id, 3_600_000);
  expect((await call(id, 3_600_000)).refused).toBe("rate_limited");
  for (let i = 0; i < 10; i++) expect((await call(id, 0)).refused).toBeNull();
  expect(await call(id, 0)).toMatchObject({ refused: "rate_limited", retryAfterS: 1 });
});

test("a clock that was a day ahead does not empty the bucket of an address for a day", async () => {
  const rate = { perSecond: 1, burst: 5 };
  const take = (ms: number) => limiter.take(`ahead_${serial}`, 1, rate, new Date(start + ms));
  for (let i = 0; i < 5; i++) expect(await take(86_400_000)).toBeUndefined();
  for (let i = 0; i < 5; i++) expect(await take(0)).toBeUndefined();
  expect(await take(0)).toBe(1);
});

test("the reset is the time until the whole burst passes, and until one call does if none passes now", async () => {
  const id = `acc_${++serial}`;
  const limits = { perSecond: 0.1, burst: 3, concurrent: 100, perDay: null };
  const resets: number[] = [];
  for (let n = 0; n < 3; n++) resets.push((await call(id, 0, { limits })).resetS);
  expect(resets).toEqual([10, 20, 10]);
});

test("a caller of a slow rate is told to wait for the whole interval", async () => {
  const id = `acc_${++serial}`;
  const limits = { perSecond: 0.1, burst: 1, concurrent: 100, perDay: null };
  await call(id, 0, { limits });
  expect(await call(id, 1_000, { limits })).toMatchObject({
    refused: "rate_limited",
    retryAfterS: 9,
    resetS: 9,
  });
});

test("the sweep forgets buckets that have been full for a day, and calls whose lease is over, and nothing else", async () => {
  const id = `acc_${++serial}`;
  const rate = { perSecond: 1, burst: 1 };
  const at = (ms: number) => new Date(start + ms);
  await limiter.take("swept", 1, rate, at(-86_400_000));
  await limiter.take("kept", 1, rate, at(-1_000));
  await limiterOpen(id, `open_${id}`, -120_001);
  await limiterOpen(id, `still_${id}`);
  await limiter.sweep(at(1_001));
  const ids = async (table: string, column: string) =>
    (await database.query<{ id: string }>(`select ${column} as id from ${table}`)).rows.map((row) => row.id);
  expect(await ids("rate", "id")).toEqual(expect.arrayContaining(["kept"]));
  expect(await ids("rate", "id")).not.toContain("swept");
  expect(await ids("open_call", "request_id")).toContain(`still_${id}`);
  expect(await ids("open_call", "request_id")).not.toContain(`open_${id}`);
});

test("of 40 simultaneous calls exactly the burst passes", async () => {
  const id = `acc_${++serial}`;
  const limits = { perSecond: 2, burst: 10, concurrent: 100, perDay: null };
  const verdicts = await Promise.all(Array.from({ length: 40 }, () => call(id, 0, { limits })));
  expect(verdicts.filter(({ refused }) => refused === null)).toHaveLength(10);
});

test("a key's own limit applies below the account's", async () => {
  const id = `acc_${++serial}`;
  const own = { keyId: `key_${serial}`, keyPerSecond: 1 };
  expect((await call(id, 0, own)).refused).toBeNull();
  expect(await call(id, 0, own)).toMatchObject({ refused: "rate_limited", retryAfterS: 1 });
  expect((await call(id, 0)).refused).toBeNull();
  expect((await call(id, 1_000, own)).refused).toBeNull();
});

test("refuses more open calls than allowed until one ends, or its lease does", async () => {
  const id = `acc_${++serial}`;
  const open = [1, 2, 3, 4].map((n) => `open_${id}_${n}`);
  for (const requestId of open) expect((await limiterOpen(id, requestId)).refused).toBeNull();
  expect(await limiterOpen(id, `open_${id}_5`)).toMatchObject({
    refused: "concurrency_limited",
    retryAfterS: 1,
  });
  await limiter.end(open[0]!);
  expect((await limiterOpen(id, `open_${id}_6`)).refused).toBeNull();
  expect((await limiterOpen(id, `open_${id}_7`, 121_000)).refused).toBeNull();
});

function limiterOpen(accountId: string, requestId: string, atMs = 0) {
  const now = new Date(start + atMs);
  return limiter.admit({
    requestId,
    accountId,
    keyId: "key",
    limits: limitsOf("trial"),
    keyPerSecond: null,
    now,
    day: "2026-03-10",
  });
}

test("counts a day's calls by China's calendar, and waits until midnight there", async () => {
  const id = `acc_${++serial}`;
  const limits = { perSecond: 1_000, burst: 1_000, concurrent: 10, perDay: 3 };
  for (let i = 0; i < 3; i++) expect((await call(id, i, { limits })).refused).toBeNull();
  // 04:00 UTC is noon in China: twelve hours are left.
  expect(await call(id, 0, { limits })).toMatchObject({ refused: "daily_limit", retryAfterS: 43_200 });
  expect((await call(id, 43_200_000, { limits, day: "2026-03-11" })).refused).toBeNull();
});

test("a bucket allows its burst at once, then its rate; other buckets are independent", async () => {
  const rate = { perSecond: 1 / 3, burst: 20 };
  const take = (bucket: string, ms: number, cost = 1) =>
    limiter.take(bucket, cost, rate, new Date(start + ms));
  for (let i = 0; i < 20; i++) expect(await take("a", 0)).toBeUndefined();
  expect(await take("a", 0)).toBe(3);
  expect(await take("b", 0)).toBeUndefined();
  expect(await take("a", 3_000)).toBeUndefined();
});

test("a cost counts as that many requests, and at most as the burst", async () => {
  const rate = { perSecond: 10, burst: 100 };
  const take = (bucket: string, ms: number, cost: number) =>
    limiter.take(bucket, cost, rate, new Date(start + ms));
  expect(await take("costly", 0, 60)).toBeUndefined();
  expect(await take("costly", 0, 60)).toBe(2);
  expect(await take("costly", 0, 40)).toBeUndefined();
  expect(await take("costly", 0, 1)).toBe(1);
  expect(await take("huge", 0, 1_000_000)).toBeUndefined();
  expect(await take("huge", 0, 1_000_000)).toBe(10);
});

test("headers state the policy and the account's position", () => {
  const verdict = { refused: null, retryAfterS: 1, remaining: 4, resetS: 3 };
  expect(limitHeaders(limitsOf("standard"), verdict)).toMatchObject({
    "ratelimit-policy": '"account";q=600;w=60,"burst";q=50;w=1',
    ratelimit: '"account";r=4;t=3',
  });
});
