import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../database/database.ts";
import { migrate } from "../database/migrations.ts";
import { charge, hold } from "./hold.ts";
import { ledgerMigrations } from "./migrations.ts";
import { grantTrial, openWallet, reverse, topUp } from "./movement.ts";
import { sealEntries } from "./seal.ts";
import { settle } from "./settlement.ts";
import { verifyLedger } from "./verify.ts";

let folder: string;
let database: Database;
let owner: Awaited<ReturnType<Database["connectAsOwner"]>>;
const now = new Date("2026-03-10T04:00:00Z");
const why = { actor: "test", note: "test", now };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dataq-verify-"));
  database = await openDatabase({ folder, progress: () => {} });
  await migrate(database, ledgerMigrations);
  await database.pool.query("insert into price values ('legal_laws', 1, 5000, 2500, 'epoch', 'test')");
  for (const accountId of ["paid", "trial"]) {
    await openWallet(database, accountId, now);
    const call = (requestId: string, cached = false) => ({
      requestId,
      accountId,
      keyId: "key",
      operation: "legal_laws",
      tokens: cached ? 2_500 : 5_000,
      priceVersion: 1,
      cached,
      instanceId: 0,
      now,
      deadline: new Date(now.getTime() + 60_000),
    });
    await topUp(database, accountId, 40_000, `pay ${accountId}`, why);
    if (accountId === "trial")
      await grantTrial(
        database,
        accountId,
        { tokens: 20_000, expiresAt: new Date("2026-06-01T00:00:00Z") },
        why,
      );
    await hold(database, call(`${accountId} captured`));
    const end = { tokens: 5_000, note: "test", now, accountId };
    await settle(database, `${accountId} captured`, { ...end, kind: "capture" });
    await hold(database, call(`${accountId} voided`));
    await settle(database, `${accountId} voided`, { ...end, kind: "void" });
    await charge(database, call(`${accountId} cached`, true));
    await reverse(database, `${accountId} cached`, 2_500, why);
    await hold(database, call(`${accountId} open`));
  }
  await sealEntries(database, now);
  await database.pool.query(
    "insert into idempotency values ('paid', 'k', '', 'paid captured', 0, 'epoch', '')",
  );
  // The triggers that these tests bypass: `verify` must find a breach without their help.
  owner = await database.connectAsOwner();
  await owner.query(`
    alter table entry disable trigger all, drop constraint entry_is_balanced;
    alter table wallet drop constraint wallet_held_not_negative;
    drop index entry_once_a_request, entry_once_a_reference;
  `);
}, 60_000);
afterAll(async () => {
  await owner?.end();
  await database?.close();
  rmSync(folder, { recursive: true, force: true });
});

const broken = async () =>
  (await verifyLedger(database))
    .filter(({ breaches }) => breaches.length > 0)
    .map(({ law, text }) => `${law} ${text}`);

const captured = "where request_id = 'paid captured' and kind = 'capture'";
const tampering: [string, string, string][] = [
  [
    "L1 every entry balances",
    `update entry set earnings = 5001 ${captured}`,
    `update entry set earnings = 5000 ${captured}`,
  ],
  [
    "L2 no entry is missing, and every entry and hold has a wallet",
    `update entry set seq = 98 ${captured}`,
    "update entry set seq = 3 where seq = 98",
  ],
  [
    "L3 every wallet is the sum of its entries, and its held tokens are the sum of its open holds",
    "update wallet set paid = paid + 1 where account_id = 'paid'",
    "update wallet set paid = paid - 1 where account_id = 'paid'",
  ],
  [
    "L3 every balance_after is the running sum",
    `update entry set balance_after = balance_after + 1 ${captured}`,
    `update entry set balance_after = balance_after - 1 ${captured}`,
  ],
  [
    "L4 nothing is negative",
    "update wallet set held = held - 5001 where account_id = 'paid'",
    "update wallet set held = held + 5001 where account_id = 'paid'",
  ],
  [
    "L5 every call has one hold, and ends once or is still open",
    `update entry set kind = 'adjust' ${captured}`,
    "update entry set kind = 'capture' where kind = 'adjust'",
  ],
  [
    "L6 a charge never exceeds its hold, and is the price in force at the hold",
    "update price set tokens = 5001",
    "update price set tokens = 5000",
  ],
  [
    "L6 the charge for several queries is the sum of the prices that its note names",
    "update entry set operation = 'queries' where request_id = 'paid captured'",
    "update entry set operation = 'legal_laws' where request_id = 'paid captured'",
  ],
  [
    "L7 a charged call keeps its outcome under its Idempotency-Key, so that a retry is free",
    "update idempotency set outcome = null",
    "update idempotency set outcome = ''",
  ],
  [
    "L8 a payment, voucher or trial is credited once",
    "update entry set reference = 'pay paid' where reference = 'pay trial'",
    "update entry set reference = 'pay trial' where account_id = 'trial' and kind = 'topup'",
  ],
  [
    "L9 the entries of a call agree on account, operation and key, and add up to what was earned",
    `update entry set key_id = 'another' ${captured}`,
    `update entry set key_id = 'key' ${captured}`,
  ],
  [
    "L10 an expired trial is not spent",
    "update wallet set trial_expires_at = 'epoch' where account_id = 'trial'",
    "update wallet set trial_expires_at = '2026-06-01T00:00:00Z' where account_id = 'trial'",
  ],
  [
    "L10 trial tokens are spent first, then paid tokens, then credit",
    "update entry set paid = trial, trial = 0 where request_id = 'trial open'",
    "update entry set trial = paid, paid = 0 where request_id = 'trial open'",
  ],
  [
    "L11 the tokens of customers, earnings and expired trials add up to what came in",
    "update entry set payments = payments - 1 where reference = 'pay paid'",
    "update entry set payments = payments + 1 where reference = 'pay paid'",
  ],
  [
    "L12 a refund never exceeds its charge",
    "update entry set earnings = -2501, paid = 2501 where kind = 'reverse' and account_id = 'paid'",
    "update entry set earnings = -2500, paid = 2500 where kind = 'reverse' and account_id = 'paid'",
  ],
  [
    "L12 a refund goes back to the part of the wallet that was charged",
    "update entry set paid = trial, trial = 0 where kind = 'reverse' and account_id = 'trial'",
    "update entry set trial = paid, paid = 0 where kind = 'reverse' and account_id = 'trial'",
  ],
  [
    "L13 the entries of an account are in order of time",
    `update entry set at = at - interval '1 day' ${captured}`,
    `update entry set at = at + interval '1 day' ${captured}`,
  ],
  [
    "L13 the hash chain is intact",
    `update entry set note = 'nothing' ${captured}`,
    `update entry set note = 'test' ${captured}`,
  ],
  [
    "L14 every entry has an actor and a reason",
    `update entry set actor = '' ${captured}`,
    `update entry set actor = 'key' ${captured}`,
  ],
];

test.each(tampering)("%s: verify reports the breach", async (law, tamper, undo) => {
  expect(await broken()).toEqual([]);
  await owner.query(tamper);
  expect(await broken()).toContain(law);
  await owner.query(undo);
  expect(await broken()).toEqual([]);
});

test("every law has a test that breaks it", async () => {
  const laws = (await verifyLedger(database)).map(({ law, text }) => `${law} ${text}`);
  expect(tampering.map(([law]) => law).sort()).toEqual(laws.sort());
});

test("an error of the database during verify leaves a usable connection behind", async () => {
  const single = await openDatabase({ folder, poolSize: 1, progress: () => {} });
  try {
    await owner.query("alter table price rename to hidden");
    await expect(verifyLedger(single)).rejects.toMatchObject({ code: "42P01" });
    expect((await single.query<{ one: number }>("select 1 as one")).rows).toEqual([{ one: 1 }]);
  } finally {
    await owner.query("alter table hidden rename to price");
    await single.close();
  }
});
