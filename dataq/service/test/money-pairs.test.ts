import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { Interleaver } from "./interleavings.ts";
import { checkLaws } from "./ledger-model.ts";
import { playPair, preparePairs } from "./money-pairs.ts";

let folder: string;
let database: Database;
let interleaver: Interleaver;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  interleaver = await Interleaver.open(database);
  await preparePairs(database);
});
afterAll(async () => {
  await interleaver?.close();
  await database?.close();
  await removeDataFolder(folder);
});

test("every order of the statements of two operations on one account ends as one after the other does (all pairs: npm run proof -- pairs)", async () => {
  for (const [first, second, least] of [
    ["hold under a cap", "hold under a cap", 6],
    ["hold under a cap", "void", 4],
    ["voucher", "voucher", 4],
    ["hold", "expiry", 2],
    ["capture", "void", 2],
    ["hold in a project", "hold in a project", 2],
    ["package", "charge", 4],
  ] as const) {
    const { orders, wrong } = await playPair(database, interleaver, first, second);
    expect([first, second, wrong]).toEqual([first, second, []]);
    expect([first, second, orders >= least]).toEqual([first, second, true]);
  }
  await checkLaws(database);
});

test("orders that are left out end as others that are played", async () => {
  for (const [first, second] of [
    ["payment", "begin a charge"],
    ["voucher", "payment"],
  ] as const) {
    const all = await playPair(database, interleaver, first, second, "all");
    const different = await playPair(database, interleaver, first, second);
    expect(different.ends).toEqual(all.ends);
    expect(different.orders).toBeLessThan(all.orders / 2);
  }
});
