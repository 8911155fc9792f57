import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import type { RunStatement } from "../src/ledger/gather.ts";
import { hold } from "../src/ledger/hold.ts";
import { openWallet, topUp } from "../src/ledger/movement.ts";
import { commitWithoutDisk, makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { checkLaws, playSteps, prepareModel, stepArbitrary } from "./ledger-model.ts";

/**
 * Number of accounts: enough that most steps run at the same time as others, and few enough that each account
 * has holds, captures and voids.
 */
const ACCOUNTS = 20;

let folder: string;
let database: Database;
let statements: RunStatement;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  await commitWithoutDisk(database);
  statements = await prepareModel(database);
});
afterAll(async () => {
  await database?.close();
  await removeDataFolder(folder);
});

test("in 1,500 random steps the ledger agrees with its model, and every law holds (more: npm run proof -- ledger-model)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { minLength: 500, maxLength: 500 }), (steps) =>
      playSteps(database, steps, statements, ACCOUNTS),
    ),
    { numRuns: 3, seed: 20_260_301, endOnFailure: true },
  );
  const steps = await database.pool.query<{ n: number }>("select count(*) as n from entry");
  expect(steps.rows[0]!.n).toBeGreaterThan(300);
  expect(await countTogether()).toBeGreaterThan(30);
  await checkLaws(database);
}, 120_000);

test("an ended hold stays ended, whichever account tries to end it again", async () => {
  // Repeated, because simultaneous steps differ each time; the last step's account is locked before the hold's.
  for (let round = 0; round < 10; round++)
    await playSteps(
      database,
      [
        { kind: "topup", account: 8, pick: round, size: 6 },
        { kind: "hold", account: 8, pick: 0, size: 0 },
        { kind: "void", account: 9, pick: 0, size: 0 },
        { kind: "capture", account: 7, pick: 0, size: 0 },
        { kind: "reverse", account: 7, pick: 0, size: 0 },
      ],
      statements,
      10,
    );
});

/** Transactions that moved tokens of several accounts. Only combined statements do that. */
async function countTogether(): Promise<number> {
  const found = await database.pool.query<{ n: number }>(
    "select count(*) as n from (select from entry group by xmin::text having count(distinct account_id) > 1) as together",
  );
  return found.rows[0]!.n;
}

test("without the statement's condition the table's own check still rejects it, as an internal error", async () => {
  const now = new Date();
  const accountId = randomUUID();
  await openWallet(database, accountId, now);
  await topUp(database, accountId, 100, accountId, { actor: "test", note: "test", now });
  await expect(
    database.pool.query("update wallet set paid = paid - 101, held = held + 101 where account_id = $1", [
      accountId,
    ]),
  ).rejects.toMatchObject({ constraint: "wallet_paid_not_negative" });
  const request = {
    requestId: `req_m of ${accountId}`,
    accountId,
    keyId: "k",
    operation: "legal_laws",
    tokens: 101,
  };
  const rest = { priceVersion: 1, cached: false, instanceId: 0, now, deadline: now };
  await expect(hold(database, { ...request, ...rest })).rejects.toMatchObject({
    code: "insufficient_balance",
  });
});
