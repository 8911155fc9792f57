import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import { hold } from "../src/ledger/hold.ts";
import { openWallet, topUp } from "../src/ledger/movement.ts";
import { isEmbedded, makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { checkLaws, playSteps, prepareModel, stepArbitrary } from "./ledger-model.ts";

let folder: string;
let database: Database;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  if (isEmbedded) {
    // Nothing is killed here, so nothing has to reach the disk.
    await database.pool.query("alter system set synchronous_commit = off");
    await database.pool.query("select pg_reload_conf()");
  }
  await prepareModel(database);
});
afterAll(async () => {
  await database?.close();
  await removeDataFolder(folder);
});

test("in 10,000 random steps the ledger does what its model does, and every law holds", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { minLength: 500, maxLength: 500 }), (steps) =>
      playSteps(database, steps),
    ),
    { numRuns: 20, seed: 20_260_301, endOnFailure: true },
  );
  const steps = await database.pool.query<{ n: number }>("select count(*) as n from entry");
  expect(steps.rows[0]!.n).toBeGreaterThan(2_000);
  await checkLaws(database);
}, 120_000);

test("without the condition of the statement the table's own check still refuses, and as a fault of ours", async () => {
  const now = new Date();
  await openWallet(database, "mutant", now);
  await topUp(database, "mutant", 100, "mutant", { actor: "test", note: "test", now });
  await expect(
    database.pool.query("update wallet set paid = paid - 101, held = held + 101 where account_id = 'mutant'"),
  ).rejects.toMatchObject({ constraint: "wallet_paid_not_negative" });
  const request = {
    requestId: "req_m",
    accountId: "mutant",
    keyId: "k",
    operation: "legal_laws",
    tokens: 101,
  };
  const rest = { priceVersion: 1, cached: false, instanceId: 0, now, deadline: now };
  await expect(hold(database, { ...request, ...rest })).rejects.toMatchObject({
    code: "insufficient_balance",
  });
});
