import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import { usualTerms } from "../connector/contract.ts";
import type { Database } from "../database/database.ts";
import { ContractGate } from "./contract-gate.ts";

let folder: string;
let database: Database;
let gate: ContractGate;
const nowMs = Date.parse("2026-03-10T04:00:00Z");

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  gate = new ContractGate(database);
});
afterAll(async () => {
  await database?.close();
  await removeDataFolder(folder);
});
beforeEach(async () => {
  for (const table of ["contract_state", "contract_call", "vendor_request"])
    await database.query(`delete from ${table}`);
});

const request = {
  contract: "vendor",
  operation: "express_tracking",
  requestId: null,
  nowMs,
  terms: usualTerms,
  leaseMs: 10_000,
  patienceMs: 0,
};

test("what is left is what was paid in less all that was sent since then, to a hundredth of a fen", async () => {
  for (const [n, costFen] of [0.1, 0.2, 30, 0.0001].entries())
    expect(
      await gate.enter({ ...request, terms: { ...usualTerms, mostAtOnce: 9 }, id: `id${n}`, costFen }),
    ).toMatchObject({ refused: null });
  const since = new Date(nowMs);
  expect(await gate.leftOf("vendor", undefined)).toBeNull();
  expect(await gate.leftOf("vendor", { fen: 100, since })).toBe(69.6999);
  expect(await gate.leftOf("vendor", { fen: 30, since })).toBe(-0.3001);
  expect(await gate.leftOf("vendor", { fen: 100, since: new Date(nowMs + 1) })).toBe(100);
  expect(await gate.leftOf("another", { fen: 100, since })).toBe(100);
});

test("a vendor that has only said what is left has no requests, and one that never did has stated nothing", async () => {
  await gate.noteBalance("said", 12.5, nowMs);
  await gate.enter({ ...request, id: "one", costFen: 2 });
  await gate.leave("one", "vendor", nowMs, { outcome: "answered" });
  const states = await gate.states(new Date(nowMs));
  expect(states.get("said")).toMatchObject({ requests: 0, stated: { amount: 12.5, at: new Date(nowMs) } });
  expect(states.get("vendor")).toMatchObject({ requests: 1, costFen: 2, stated: null });
});

test("how long a request took is kept in whole milliseconds, or as unknown", async () => {
  for (const [id, ms] of [
    ["timed", 12.6],
    ["untimed", undefined],
  ] as const) {
    await gate.enter({ ...request, id, costFen: 1 });
    await gate.leave(id, "vendor", nowMs, { outcome: "answered", ...(ms && { ms }) });
  }
  const { rows } = await database.query("select ms from vendor_request order by id");
  expect(rows).toEqual([{ ms: 13 }, { ms: null }]);
});
