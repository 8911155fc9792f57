import { operations } from "@dataq/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import type { Database } from "../database/database.ts";
import { inForceAt, PriceList, publishFirstPrices, publishPrice } from "./price.ts";

let folder: string;
let database: Database;
const now = new Date("2026-03-01T00:00:00Z");
const at = (ms: number) => new Date(now.getTime() + ms);
const price = { operation: "legal_laws", tokens: 7_000, cachedTokens: null, actor: "test" };

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
  expect(await versions(0)).toBe(1);
  expect(await publishPrice(database, { ...price, effectiveFrom: at(1) })).toBe(2);
  expect([await versions(30_000), await versions(30_001)]).toEqual([1, 2]);
  expect(await publishPrice(database, { ...price, effectiveFrom: at(2) })).toBe(3);
  expect([await versions(1), await versions(0)]).toEqual([2, 3]);
  expect(await publishPrice(database, { ...price, effectiveFrom: at(3) })).toBe(4);
  list.forget();
  expect(await versions(0)).toBe(4);
});

test("an operation that does not exist gets no price", async () => {
  expect(
    await publishPrice(database, { ...price, operation: "legal_nothing", effectiveFrom: now }),
  ).toBeUndefined();
  await expect(new PriceList(database).find("legal_nothing", now)).rejects.toThrow(/has no price/);
});
