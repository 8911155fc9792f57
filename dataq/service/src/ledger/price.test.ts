import { operations } from "@dataq/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import type { Database } from "../database/database.ts";
import { freeCallsLeft, returnFreeCall, takeFreeCall } from "./free-calls.ts";
import { charge } from "./hold.ts";
import { openWallet, topUp } from "./movement.ts";
import { publishAccountPrice, publishFreeTier, publishVolumeLadder } from "./plans.ts";
import { inForceAt, PriceList, publishFirstPrices, publishPrice } from "./price.ts";
import { Terms } from "./terms.ts";
import { discounted, percentOf } from "./volume.ts";

let folder: string;
let database: Database;
const now = new Date("2026-03-01T00:00:00Z");
const at = (ms: number) => new Date(now.getTime() + ms);
const price = { operation: "legal_laws", tokens: 7_000, cachedTokens: null, actor: "test" };
let serial = 0;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  await publishFirstPrices(database, now);
});
afterAll(async () => {
  await database?.close();
  await removeDataFolder(folder);
});

test("every operation has a first price, which a second start does not change", async () => {
  await publishFirstPrices(database, at(1));
  const list = new PriceList(database);
  // The clock may have been ahead at the first start.
  for (const { name } of operations)
    for (const ms of [-1, 0, 1])
      expect(await list.find(name, at(ms))).toMatchObject({ version: 1, effectiveFrom: now });
});

test("a price is in force from its very millisecond on, the newest of several", () => {
  const versions = [0, 10, 20].map((ms, place) => ({
    ...{ operation: "legal_laws", version: place + 1, tokens: 1, cachedTokens: null },
    effectiveFrom: at(ms),
  }));
  const inForce = (ms: number) => inForceAt(versions, "legal_laws", at(ms))?.version;
  expect([-1, 0, 9, 10, 19, 20, 99].map(inForce)).toEqual([undefined, 1, 1, 2, 2, 3, 3]);
  expect(inForceAt(versions, "legal_cases", at(99))).toBeUndefined();
});

test("a list is read again after half a minute, also on a clock that went back, or when it was forgotten", async () => {
  const list = new PriceList(database);
  const versions = async (ms: number) =>
    (await list.all(at(ms))).filter(({ operation }) => operation === "legal_laws").length;
  const first = await versions(0);
  const publish = (ms: number) => publishPrice(database, { ...price, effectiveFrom: at(ms) });
  expect(await publish(1)).toBe(first + 1);
  expect([await versions(30_000), await versions(30_001)]).toEqual([first, first + 1]);
  expect(await publish(2)).toBe(first + 2);
  expect([await versions(1), await versions(0)]).toEqual([first + 1, first + 2]);
  expect(await publish(3)).toBe(first + 3);
  list.forget();
  expect(await versions(0)).toBe(first + 3);
});

test("an operation that does not exist gets no price", async () => {
  expect(
    await publishPrice(database, { ...price, operation: "legal_nothing", effectiveFrom: now }),
  ).toBeUndefined();
  await expect(new PriceList(database).find("legal_nothing", now)).rejects.toThrow(/has no price/);
});

test("what a volume takes off begins with the very token of its step, and a price is rounded up", () => {
  const steps = [10, 20].map((percent) => ({ from_tokens: percent * 10, percent }));
  expect([0, 99, 100, 199, 200, 999].map((tokens) => percentOf({ steps }, tokens))).toEqual([
    0, 0, 10, 10, 20, 20,
  ]);
  expect(discounted({ tokens: 101, cachedTokens: 51 }, 10)).toEqual({ tokens: 91, cachedTokens: 46 });
  expect(discounted({ tokens: 100, cachedTokens: null }, 25)).toEqual({ tokens: 75, cachedTokens: null });
});

test("free calls of a day are taken one by one, given back, and never fewer than none", async () => {
  const today = { accountId: `acc_free_${++serial}`, operation: "legal_laws", day: "2026-03-01" };
  const left = (limit: number) => freeCallsLeft(database, today, limit);
  const take = (limit: number) => takeFreeCall(database, today, limit);
  expect([await left(2), await take(0), await take(2), await left(2)]).toEqual([2, false, true, 1]);
  expect([await take(1), await take(2), await take(2), await left(2), await left(1)]).toEqual([
    ...[false, true, false, 0, 0],
  ]);
  await returnFreeCall(database, today);
  expect([await left(2), await freeCallsLeft(database, { ...today, day: "2026-03-02" }, 2)]).toEqual([1, 2]);
});

describe("the terms of an account", () => {
  const operation = "legal_cases";
  const minute = 60_000;
  const day = 86_400_000;
  const published = { operation, actor: "test" };
  const terms = () => new Terms(database, new PriceList(database));
  async function account(): Promise<string> {
    const id = `acc_${++serial}`;
    await database.pool.query(
      "insert into account (id, name, role, tier, created_at) values ($1, $1, 'customer', 'trial', $2)",
      [id, now],
    );
    await openWallet(database, id, now);
    await topUp(database, id, 1_000_000, `test:${id}`, { actor: "test", note: "test", now });
    return id;
  }
  const coupon = (id: string, percent: number, from: number, until: number, name: string) =>
    database.pool.query(
      `insert into discount (id, account_id, percent, coupon, effective_from, effective_until)
       values ($1, $2, $3, 'C', $4, $5)`,
      [name, id, percent, at(from), at(until)],
    );
  const refOf = async (version: number) =>
    (
      await database.pool.query<{ source_ref: string; since: Date }>(
        "select source_ref, effective_from as since from special_price where version = $1",
        [version],
      )
    ).rows[0]!;

  test("its own price counts from its very millisecond until the list price comes back, and for nobody else", async () => {
    const [one, other] = [await account(), await account()];
    const list = await terms().priceOf(one, operation, at(0));
    expect(list).toMatchObject({ version: 1, effectiveFrom: now });
    expect(list.special).toBeUndefined();
    const own = { ...published, accountId: one, cached_tokens: null };
    await publishAccountPrice(database, { ...own, tokens: 777, effective_from: at(10) });
    await publishAccountPrice(database, { ...own, tokens: null, effective_from: at(20) });
    const known = terms();
    const prices = [];
    for (const ms of [9, 10, 19, 20]) prices.push(await known.priceOf(one, operation, at(ms)));
    expect(prices.map(({ tokens }) => tokens)).toEqual([list.tokens, 777, 777, list.tokens]);
    expect(prices[1]).toEqual({
      operation,
      version: prices[2]!.version,
      tokens: 777,
      cachedTokens: null,
      effectiveFrom: at(10),
      special: { reason: "account_price", listTokens: list.tokens },
    });
    // Another instance of the service names it alike.
    expect((await terms().priceOf(one, operation, at(10))).version).toBe(prices[1]!.version);
    expect((await known.priceOf(other, operation, at(10))).special).toBeUndefined();
  });

  test("are read again after half a minute, also on a clock that went back, or when they were forgotten", async () => {
    const id = await account();
    const known = terms();
    const seen = async (ms: number) => [
      await known.freeCallsOf(operation, at(ms)),
      (await known.priceOf(id, operation, at(ms))).special?.reason,
    ];
    const offer = async (calls: number, tokens: number | null) => {
      await publishFreeTier(database, { ...published, calls, effective_from: at(0) });
      const own = { ...published, accountId: id, cached_tokens: null };
      await publishAccountPrice(database, { ...own, tokens, effective_from: at(0) });
    };
    const first = await seen(0);
    expect(first[1]).toBeUndefined();
    await offer(5, 700);
    expect(await seen(30_000)).toEqual(first);
    expect(await seen(30_001)).toEqual([5, "account_price"]);
    await offer(7, null);
    expect(await seen(1)).toEqual([5, "account_price"]);
    expect(await seen(0)).toEqual([7, undefined]);
    await offer(9, 700);
    known.forget();
    expect(await seen(0)).toEqual([9, "account_price"]);
    expect(await known.freeCallsOf("legal_laws", at(0))).toBe(0);
  });

  test("take off the larger of coupons and volume, each within its time", async () => {
    const id = await account();
    const begin = 3 * day;
    const ladder = await publishVolumeLadder(database, {
      actor: "test",
      steps: [{ from_tokens: 100, percent: 20 }],
      effective_from: at(begin),
    });
    const call = { accountId: id, keyId: "key_1", operation: "legal_laws", priceVersion: 1, cached: false };
    const spend = (tokens: number, ms: number, accountId = id) =>
      charge(database, {
        ...{
          ...call,
          accountId,
          tokens,
          instanceId: 0,
          requestId: `req_${++serial}`,
          now: at(ms),
          deadline: at(ms + minute),
        },
      });
    await coupon(id, 10, begin, begin + 2 * day, `less ${id}`);
    await coupon(id, 20, begin, begin + 2 * day, `same ${id}`);
    await coupon(id, 30, begin + day, begin + day + minute, `more ${id}`);
    await coupon(id, 30, begin + day, begin + day + minute, `most ${id}`);
    const told = async (ms: number) => {
      const { version, special } = await terms().priceOf(id, operation, at(ms));
      return special === undefined ? "list" : `${special.reason} ${(await refOf(version)).source_ref}`;
    };
    expect(await told(begin - 1)).toBe("list");
    expect(await told(begin)).toBe(`coupon same ${id}`);
    await spend(99, begin);
    await spend(1, begin + minute);
    // What was spent today counts from tomorrow on, and a coupon of as much does not take its place.
    expect(await told(begin + minute)).toBe(`coupon same ${id}`);
    expect(await told(begin + day - 1)).toBe(`volume_discount ${ladder}`);
    expect(await told(begin + day)).toBe(`coupon more ${id}`);
    expect(await told(begin + day + minute - 1)).toBe(`coupon more ${id}`);
    expect(await told(begin + day + minute)).toBe(`volume_discount ${ladder}`);
    // One that reads the terms of half a minute ago, too.
    const known = terms();
    const off = async (ms: number) => (await known.priceOf(id, operation, at(ms))).special?.reason;
    const end = begin + day + minute;
    expect([await off(end - 1), await off(end)]).toEqual(["coupon", "volume_discount"]);
    // Who has spent enough before the ladder begins pays less from its very millisecond on. The month began in China.
    const early = await account();
    await spend(1, -8 * 3_600_000 - 1, early);
    await spend(100, -8 * 3_600_000, early);
    const first = async (ms: number) => (await terms().priceOf(early, operation, at(ms))).special?.reason;
    expect([await first(begin - 1), await first(begin)]).toEqual([undefined, "volume_discount"]);
    // With neither of them the list price holds again.
    const poor = await account();
    expect(await terms().priceOf(poor, operation, at(begin + day))).not.toHaveProperty("special");
    const { version } = await terms().priceOf(id, operation, at(begin + 2 * day));
    expect(await refOf(version)).toEqual({ source_ref: `${ladder}`, since: at(begin) });
  });
});
