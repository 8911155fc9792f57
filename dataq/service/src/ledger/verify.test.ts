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
    "insert into idempotency values ('paid', 'k', '', 'paid captured', 0, 'epoch', null)",
  );
  // What follows is what the tables refuse; the checks of `verify` must see it without their help.
  await database.pool.query(`
    alter table entry disable trigger all, drop constraint entry_is_balanced;
    alter table wallet drop constraint wallet_held_not_negative;
    drop index entry_once_a_request, entry_once_a_reference;
  `);
}, 60_000);
afterAll(async () => {
  await database?.close();
  rmSync(folder, { recursive: true, force: true });
});

const broken = async () =>
  (await verifyLedger(database))
    .filter(({ breaches }) => breaches.length > 0)
    .map(({ law, text }) => `${law} ${text}`);

const captured = "where request_id = 'paid captured' and kind = 'capture'";
const copied = (set: string) =>
  `insert into entry (account_id, seq, at, kind, request_id, operation, key_id, price_version, held, earnings, paid, balance_after, actor, note)
   select account_id, 99, at, ${set} from entry ${captured}`;
const tampering: [string, string, string][] = [
  [
    "L1 every entry balances",
    `update entry set earnings = 5001 ${captured}`,
    `update entry set earnings = 5000 ${captured}`,
  ],
  [
    "L2 no entry of an account is missing, and none is without an account",
    `update entry set seq = 98 ${captured}`,
    "update entry set seq = 3 where seq = 98",
  ],
  [
    "L3 wallets are the sums of their entries, and holds are what is held",
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
    "L5 every call ends once, captured or voided, or is open",
    `update entry set kind = 'adjust' ${captured}`,
    "update entry set kind = 'capture' where kind = 'adjust'",
  ],
  [
    "L6 what is captured is held, and a price of the version in force at the hold",
    "update price set tokens = 5001",
    "update price set tokens = 5000",
  ],
  [
    "L7 an Idempotency-Key is charged at most once",
    copied("'capture', request_id, operation, key_id, price_version, -5000, 5000, 0, 0, 'x', 'x'"),
    "delete from entry where seq = 99",
  ],
  [
    "L8 a payment, voucher or trial is credited at most once",
    "update entry set reference = 'pay paid' where reference = 'pay trial'",
    "update entry set reference = 'pay trial' where account_id = 'trial' and kind = 'topup'",
  ],
  [
    "L9 usage by account, day, operation and key sums to what was earned",
    `update entry set key_id = 'another' ${captured}`,
    `update entry set key_id = 'key' ${captured}`,
  ],
  [
    "L10 an expired trial is not spent",
    "update wallet set trial_expires_at = 'epoch' where account_id = 'trial'",
    "update wallet set trial_expires_at = '2026-06-01T00:00:00Z' where account_id = 'trial'",
  ],
  [
    "L10 paid tokens are spent only when the trial is spent, credit only when both are",
    "update entry set paid = trial, trial = 0 where request_id = 'trial open'",
    "update entry set trial = paid, paid = 0 where request_id = 'trial open'",
  ],
  [
    "L11 all tokens together: customers, earnings and breakage are what came in",
    "update entry set payments = payments - 1 where reference = 'pay paid'",
    "update entry set payments = payments + 1 where reference = 'pay paid'",
  ],
  [
    "L12 no more is reversed than was captured",
    "update entry set earnings = -2501, paid = 2501 where kind = 'reverse' and account_id = 'paid'",
    "update entry set earnings = -2500, paid = 2500 where kind = 'reverse' and account_id = 'paid'",
  ],
  [
    "L13 time runs forward",
    `update entry set at = at - interval '1 day' ${captured}`,
    `update entry set at = at + interval '1 day' ${captured}`,
  ],
  [
    "L13 the chain of hashes is whole",
    `update entry set note = 'nothing' ${captured}`,
    `update entry set note = 'test' ${captured}`,
  ],
  [
    "L14 every entry has an actor and a reason",
    `update entry set actor = '' ${captured}`,
    `update entry set actor = 'key' ${captured}`,
  ],
];

test.each(tampering)("%s: a breach is found", async (law, tamper, undo) => {
  expect(await broken()).toEqual([]);
  await database.pool.query(tamper);
  expect(await broken()).toContain(law);
  await database.pool.query(undo);
  expect(await broken()).toEqual([]);
});

test("no law goes without its breach", async () => {
  const laws = (await verifyLedger(database)).map(({ law, text }) => `${law} ${text}`);
  expect(tampering.map(([law]) => law).sort()).toEqual(laws.sort());
});
