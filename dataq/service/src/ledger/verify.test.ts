import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import type { Database } from "../database/database.ts";
import { listEntries, readEntries } from "./entry.ts";
import { charge, hold } from "./hold.ts";
import { grantTrial, openWallet, reverse, setCreditLimit, topUp } from "./movement.ts";
import { RecentEntries } from "./recent.ts";
import { takeBack } from "./returned-payment.ts";
import { sealEntries } from "./seal.ts";
import { settle } from "./settlement.ts";
import { verifyLedger } from "./verify.ts";

let folder: string;
let database: Database;
let owner: Awaited<ReturnType<Database["connectAsOwner"]>>;
/** The statements with which every test begins with the same books, whatever another one did to them. */
let restore: string;
const now = new Date("2026-03-10T04:00:00Z");
const why = { actor: "test", note: "test", now };

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
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
    const back = { kind: "refund", payment: `pay ${accountId}`, id: "r", tokens: 500, credit: 0 } as const;
    await takeBack(database, accountId, { ...back, isForced: false }, why);
    await hold(database, call(`${accountId} open`));
  }
  await sealEntries(database, now);
  await database.pool.query(
    "insert into idempotency values ('paid', 'k', '', 'paid captured', 0, 'epoch', '')",
  );
  // The triggers that these tests bypass: `verify` must find a breach without their help.
  owner = await database.connectAsOwner();
  await owner.query(`
    alter table seal drop constraint if exists seal_account_id_fkey;
    alter table entry disable trigger all, drop constraint entry_is_balanced;
    alter table wallet drop constraint wallet_held_not_negative;
    drop index entry_once_a_request, entry_once_a_reference;
  `);
  restore = await keepBooks();
}, 60_000);
beforeEach(() => owner.query(restore));
afterAll(async () => {
  await owner?.end();
  await database?.close();
  await removeDataFolder(folder);
});

/** Keeps what the tables hold. Returns the statements that bring it back. */
async function keepBooks(): Promise<string> {
  const names = ["wallet", "entry", "hold", "seal", "verified", "verification"];
  const tables = [...names, "idempotency", "price", "special_price", "package"];
  await owner.query("create schema kept");
  const statements: string[] = [];
  for (const table of tables) {
    await owner.query(`create table kept.${table} as table ${table}`);
    const { rows } = await owner.query(
      "select string_agg(column_name, ', ') as columns from information_schema.columns where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'",
      [table],
    );
    const { columns } = rows[0];
    statements.push(
      `delete from ${table}`,
      `insert into ${table} (${columns}) overriding system value select ${columns} from kept.${table}`,
    );
  }
  return statements.join(";\n");
}

const broken = async () =>
  (await verifyLedger(database)).findings
    .filter(({ breaches }) => breaches.length > 0)
    .map(({ law, text }) => `${law} ${text}`);

const captured = "where request_id = 'paid captured' and kind = 'capture'";
const tampering: [string, string][] = [
  ["L1 every entry balances", `update entry set earnings = 5001 ${captured}`],
  ["L2 no entry is missing, and every entry and hold has a wallet", `update entry set seq = 98 ${captured}`],
  [
    "L3 every wallet is the sum of its entries, and its held tokens are the sum of its open holds",
    "update wallet set paid = paid + 1 where account_id = 'paid'",
  ],
  [
    "L3 every balance_after is the running sum",
    `update entry set balance_after = balance_after + 1 ${captured}`,
  ],
  ["L4 nothing is negative", "update wallet set held = held - 5001 where account_id = 'paid'"],
  [
    "L5 every call has one hold, and ends once or is still open",
    `update entry set kind = 'adjust' ${captured}`,
  ],
  [
    "L6 a charge never exceeds its hold, and equals the price in effect at the hold",
    "update price set tokens = 5001",
  ],
  [
    "L6 the charge for several queries is the sum of the prices that its note names",
    "update entry set operation = 'queries' where request_id = 'paid captured'",
  ],
  [
    "L6 a special price is what was agreed with the account, or the list price less the discount that it names",
    `insert into special_price (account_id, operation, list_version, source, source_ref, tokens, effective_from)
     values ('paid', 'legal_laws', 1, 'account_price', '9', 1, 'epoch')`,
  ],
  [
    "L7 a charged call keeps its outcome under its Idempotency-Key, so that a retry is free",
    "update idempotency set outcome = null",
  ],
  [
    "L8 a payment, voucher or trial is credited once",
    "update entry set reference = 'pay paid' where reference = 'pay trial'",
  ],
  [
    "L9 the entries of a call agree on account, operation and key, and add up to what was earned",
    `update entry set key_id = 'another' ${captured}`,
  ],
  [
    "L10 an expired trial is not spent",
    "update wallet set trial_expires_at = 'epoch' where account_id = 'trial'",
  ],
  [
    "L10 trial tokens are spent first, then paid tokens, then credit",
    "update entry set paid = trial, trial = 0 where request_id = 'trial open'",
  ],
  [
    "L11 the tokens of customers, earnings and expired trials add up to what came in",
    "update entry set payments = payments - 1 where reference = 'pay paid'",
  ],
  [
    "L12 a refund never exceeds its charge",
    "update entry set earnings = -2501, paid = 2501 where kind = 'reverse' and account_id = 'paid'",
  ],
  [
    "L12 a refund goes back to the part of the wallet that was charged",
    "update entry set paid = trial, trial = 0 where kind = 'reverse' and account_id = 'trial'",
  ],
  [
    "L12 what goes back of a payment never exceeds it, and is taken from the account that paid",
    "update entry set payments = 40001 where kind = 'refund' and account_id = 'paid'",
  ],
  [
    "L10 what left a package is what calls used of it or was taken, and no package has more than the paid tokens",
    `insert into package (id, account_id, payment_id, tokens, price_tokens, left_tokens, taken, bought_at, ends_at)
     values ('pkg_x', 'paid', 'pay_x', 10, 10, 4, 5, now(), now())`,
  ],
  [
    "L13 the entries of an account are in order of time",
    `update entry set at = at - interval '1 day' ${captured}`,
  ],
  ["L13 the hash chain is intact", `update entry set note = 'nothing' ${captured}`],
  ["L14 every entry has an actor and a reason", `update entry set actor = '' ${captured}`],
];

test.each(tampering)("%s: verify reports the breach", async (law, tamper) => {
  expect(await broken()).toEqual([]);
  await owner.query(tamper);
  expect(await broken()).toContain(law);
});

test("every law has a test that breaks it", async () => {
  const laws = (await verifyLedger(database)).findings.map(({ law, text }) => `${law} ${text}`);
  expect(tampering.map(([law]) => law).sort()).toEqual(laws.sort());
});

describe("a verification from the last verified points", () => {
  const fresh = () => verifyLedger(database, "new", now);
  const breaches = async () =>
    (await fresh()).findings.flatMap(({ law, breaches }) => breaches.map((one) => `${law} ${one}`));
  const call = (requestId: string) => ({
    requestId,
    accountId: "paid",
    keyId: "key",
    operation: "legal_laws",
    tokens: 5_000,
    priceVersion: 1,
    cached: false,
    instanceId: 0,
    now,
    deadline: new Date(now.getTime() + 60_000),
  });

  beforeEach(async () => {
    const { findings, covers } = await verifyLedger(database, "whole", now);
    expect(findings.flatMap((finding) => finding.breaches)).toEqual([]);
    expect(covers).toMatchObject({ whole: true, entries: 21 });
  });

  test("covers only new entries, and finds a breach in them and in what they add up to", async () => {
    expect((await fresh()).covers).toMatchObject({
      whole: false,
      entries: 0,
      verified_before: 21,
      whole_at: now,
    });
    // Ends a call whose hold was verified before.
    await settle(database, "paid open", {
      kind: "capture",
      tokens: 5_000,
      note: "test",
      now,
      accountId: "paid",
    });
    await hold(database, call("later"));
    const seen = await fresh();
    expect(seen.covers).toMatchObject({ entries: 2, verified_before: 21 });
    expect(seen.findings.flatMap((finding) => finding.breaches)).toEqual([]);
    // Not sealed yet, so they are checked again.
    expect((await fresh()).covers).toMatchObject({ entries: 2, verified_before: 21 });
    for (const [tamper, undo, found] of [
      ["earnings = 5001", "earnings = 5000", "L6 paid open"],
      ["balance_after = balance_after + 1", "balance_after = balance_after - 1", /^L3 paid \d+$/],
      ["at = at - interval '1 day'", "at = at + interval '1 day'", /^L13 paid \d+$/],
      ["request_id = 'none'", "request_id = 'paid open'", "L5 none"],
    ] as const) {
      const entry = "account_id = 'paid' and kind = 'capture' and seq > 7";
      await owner.query(`update entry set ${tamper} where ${entry}`);
      expect(await breaches()).toContainEqual(
        typeof found === "string" ? found : expect.stringMatching(found),
      );
      await owner.query(`update entry set ${undo} where ${entry}`);
    }
    await sealEntries(database, now);
    expect((await fresh()).covers).toMatchObject({ entries: 2 });
    expect((await fresh()).covers).toMatchObject({ entries: 0, verified_before: 23 });
  });

  const old = "account_id = 'trial' and seq = 3";
  const tampered: [string, string][] = [
    ["changed", `update entry set note = 'nothing' where ${old}`],
    ["deleted", `delete from entry where ${old}`],
    [
      "inserted",
      `insert into entry (account_id, seq, at, kind, balance_after, actor, note)
       select account_id, 0, at, 'adjust', 0, 'x', 'x' from entry where ${old}`,
    ],
    [
      "reordered",
      `update entry set seq = -1 where ${old}; update entry set seq = 3 where account_id = 'trial' and seq = 4;
       update entry set seq = 4 where seq = -1`,
    ],
  ];
  test.each(tampered)("an old entry that was %s is found by a whole verification", async (_, tamper) => {
    await owner.query(tamper);
    // It says what it took as verified.
    expect((await fresh()).covers).toMatchObject({ whole: false, entries: 0, verified_before: 21 });
    expect(await broken()).toContain("L13 the hash chain is intact");
  });

  test.each([
    ["its sums were changed", "update verified set paid = paid + 1 where account_id = 'paid'"],
    ["it was moved", "update verified set seq = seq - 1 where account_id = 'paid'"],
    [
      "its seal was changed",
      "update seal set sha256 = '\\x00' where (account_id, seq) in (select account_id, seq from verified)",
    ],
    [
      "its entry was deleted",
      "delete from entry where (account_id, seq) in (select account_id, seq from verified)",
    ],
    [
      "it and its seal were made up",
      `update verified set sha256 = '\\x00' where account_id = 'paid';
       update seal set sha256 = '\\x00' where (account_id, seq) in (select account_id, seq from verified where account_id = 'paid')`,
    ],
  ])("a verified point is not trusted if %s", async (_, tamper) => {
    await owner.query(tamper);
    const { findings, covers } = await fresh();
    expect(findings).toHaveLength(1);
    expect(findings[0]!.breaches[0]).toMatch(
      /^\w+ does not match its verified entry \d+; run "dataq ledger verify --whole"$/,
    );
    expect(covers).toMatchObject({ entries: 0, verified_before: 0 });
  });

  test("a whole verification replaces points that were changed", async () => {
    await owner.query("update verified set paid = paid + 1 where account_id = 'paid'");
    expect(await breaches()).toHaveLength(1);
    await verifyLedger(database, "whole", now);
    expect(await breaches()).toEqual([]);
  });

  test("an account whose verified point was deleted is verified from its first entry", async () => {
    await owner.query("delete from verified where account_id = 'trial'");
    expect((await fresh()).covers).toMatchObject({ entries: 11, verified_before: 10 });
  });
});

test("sealing after a moment looks only at accounts with entries since then, and misses none", async () => {
  await openWallet(database, "quiet", now);
  await topUp(database, "quiet", 1, "pay quiet", why);
  const later = new Date(now.getTime() + 60_000);
  expect(await sealEntries(database, later, later)).toBe(0);
  expect(await sealEntries(database, later, now)).toBe(1);
  expect(await sealEntries(database, later, now)).toBe(0);
  expect(await broken()).toEqual([]);
});

test("L6 a call is charged a price that was in effect, or the first one before its beginning", async () => {
  const broken = async () =>
    (await verifyLedger(database, "whole", now)).findings.filter(
      ({ law, breaches }) => law.startsWith("L6") && breaches.length > 0,
    ).length;
  await owner.query("update price set effective_from = now() + interval '9 years'");
  expect(await broken()).toBe(0);
  await owner.query("alter table entry disable trigger all; update price set version = 2");
  await owner.query("update entry set price_version = 2 where price_version = 1");
  expect(await broken()).toBe(1);
  await owner.query("update price set version = 1, effective_from = 'epoch'");
  await owner.query("update entry set price_version = 1 where price_version = 2");
  expect(await broken()).toBe(0);
  // Twice the price is right only where an operation is paid by its parts.
  const operationIs = (operation: string) =>
    owner.query("update entry set operation = $1 where request_id = 'paid captured'", [operation]);
  await owner.query(
    "insert into price values ('legal_citation_check', 1, 2500, 1250, 'epoch', 'test'), ('legal_cases', 1, 2500, 1250, 'epoch', 'test')",
  );
  await operationIs("legal_citation_check");
  expect(await broken()).toBe(0);
  await operationIs("legal_cases");
  expect(await broken()).toBe(1);
  await operationIs("legal_laws");
  expect(await broken()).toBe(0);
});

test("what an account has used of its credit line is counted on from a verified point", async () => {
  await openWallet(database, "creditor", now);
  await setCreditLimit(database, "creditor", 30_000, why);
  const spend = (requestId: string) =>
    charge(database, {
      ...{ requestId, accountId: "creditor", keyId: "key", operation: "legal_laws", tokens: 5_000 },
      ...{ priceVersion: 1, cached: false, instanceId: 0, now, deadline: now },
    });
  await spend("on credit 1");
  await spend("on credit 2");
  await sealEntries(database, now);
  await verifyLedger(database, "whole", now);
  await spend("on credit 3");
  await sealEntries(database, now);
  for (let times = 0; times < 2; times++)
    expect((await verifyLedger(database, "new", now)).findings.flatMap(({ breaches }) => breaches)).toEqual(
      [],
    );
  await owner.query("update verified set credit = credit + 1 where account_id = 'creditor'");
  await spend("on credit 4");
  const { findings } = await verifyLedger(database, "new", now);
  expect(findings.flatMap(({ breaches }) => breaches)).not.toEqual([]);
});

test("a step looks at all entries first, then at those since its last run, and again at all after an hour", async () => {
  const recent = new RecentEntries();
  const at = async (seconds: number, isDone = true) => {
    let since: Date | undefined;
    await recent.run(new Date(now.getTime() + seconds * 1_000), async (from) => {
      since = from;
      return isDone;
    });
    return since && (since.getTime() - now.getTime()) / 1_000;
  };
  expect(await at(0, false)).toBeUndefined();
  expect(await at(10)).toBeUndefined();
  expect(await at(20, false)).toBe(-110);
  expect(await at(30)).toBe(-110);
  expect(await at(40)).toBe(-90);
  // The clock went back.
  expect(await at(35)).toBeUndefined();
  expect(await at(45)).toBe(-85);
  expect(await at(3_634)).toBe(-75);
  expect(await at(3_635)).toBeUndefined();
  expect(await at(3_645)).toBe(3_515);
});

test("however few entries are read at once, all are checked, in their order", async () => {
  const all = await verifyLedger(database, "whole", now);
  const { entries } = all.covers;
  expect(entries).toBeGreaterThan(20);
  for (const atOnce of [1, 7, entries - 1, entries, entries + 1])
    expect(await verifyLedger(database, "whole", now, atOnce)).toMatchObject({
      findings: all.findings,
      covers: { entries },
    });
  const listed = (await listEntries(database, "trial", 999)).map(({ seq }) => seq).reverse();
  for (const atOnce of [1, 3, listed.length, 999]) {
    const read: number[] = [];
    for await (const { seq } of readEntries(database, "trial", 2, atOnce)) read.push(seq);
    expect(read).toEqual(listed.slice(2));
  }
});

test("an error of the database during verify leaves a usable connection behind", async () => {
  const single = await openFolder(folder, 1);
  try {
    await owner.query("alter table price rename to hidden");
    await expect(verifyLedger(single)).rejects.toMatchObject({ code: "42P01" });
    expect((await single.query<{ one: number }>("select 1 as one")).rows).toEqual([{ one: 1 }]);
  } finally {
    await owner.query("alter table hidden rename to price");
    await single.close();
  }
});
