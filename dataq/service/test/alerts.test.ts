import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Alert, takeAlerts } from "../src/alerts/alerts.ts";
import { tellLowBalances } from "../src/alerts/low-balance.ts";
import { setThresholds } from "../src/alerts/thresholds.ts";
import { adjust, topUp } from "../src/ledger/movement.ts";
import { setFrozen } from "../src/ledger/wallet.ts";
import { listShutOut } from "../src/payments/admission.ts";
import { letterOf } from "../src/people/owner-letters.ts";
import { People } from "../src/people/people.ts";
import { type LetterBox, openLetterBox, sendLetters } from "./letter-box.ts";
import { codeOf, PaymentRig } from "./payment-rig.ts";

let rig: PaymentRig;
let box: LetterBox;
beforeAll(async () => {
  [rig, box] = await Promise.all([PaymentRig.start(), openLetterBox()]);
}, 60_000);
afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
  await box?.close();
});

function openPeople(): People {
  return new People({
    database: rig.database,
    secret: "x".repeat(32),
    mode: "hosted",
    signup: "open",
    smtpUrl: box.url,
    publicUrl: () => "https://data.example",
    clock: () => new Date(rig.nowMs),
    onWarning: (_, error) => {
      throw error;
    },
    onLetters: () => {},
  });
}

test("owners get one email when calls bring the balance below the mark, and another after a top-up", async () => {
  const accountId = await rig.account();
  const { database } = rig;
  const people = openPeople();
  await database.query(
    `insert into people."user" ("id", "name", "email", "emailVerified") values ('u', 'Wang', 'wang@example.com', true)`,
  );
  await database.query(
    "insert into people.member (user_id, account_id, role, created_at) values ('u', $1, 'owner', now())",
    [accountId],
  );
  const why = () => ({ actor: "test", note: "test", now: new Date(rig.nowMs) });
  const tell = () => {
    rig.nowMs += 1_000;
    return tellLowBalances(
      database,
      new Date(rig.nowMs - 60_000),
      new Date(rig.nowMs),
      ({ accountId: id, ...data }, transaction) =>
        people.tellOwners(id, { about: "balance.low", data }, transaction),
    );
  };
  /** A call that costs so much: an entry of its kind, as the pipeline writes it. */
  const call = async (tokens: number) => {
    rig.nowMs += 1_000;
    await database.query(
      `with w as (update wallet set paid = paid - $2, held = held + $2, seq = seq + 1 where account_id = $1 returning *)
       insert into entry (account_id, seq, at, kind, request_id, paid, held, balance_after, actor, note)
       select $1, seq, $3, 'hold', 'req_' || seq, -$2::bigint, $2, paid, 'test', 'test' from w`,
      [accountId, tokens, new Date(rig.nowMs)],
    );
  };
  await topUp(database, accountId, 300_000, "one", why());
  await call(150_000);
  await tell();
  expect(box.letters).toEqual([]);
  await call(50_001);
  await Promise.all([tell(), tell()]);
  await call(1);
  await tell();
  await sendLetters(database, people);
  expect(box.letters).toHaveLength(1);
  expect(box.letters[0]).toMatchObject({
    to: "wang@example.com",
    subject: "dataq: your balance is low · 余额不足提醒",
    link: "https://data.example/console/top-up",
  });
  expect(box.letters[0]!.text).toContain("99,999");
  rig.nowMs += 1_000;
  await topUp(database, accountId, 1, "two", why());
  // Nobody spends: nobody is told. A correction is no call.
  rig.nowMs += 3_600_000;
  await adjust(database, accountId, -1, why());
  await tell();
  await sendLetters(database, people);
  expect(box.letters).toHaveLength(1);
  // A frozen account cannot spend what it tops up.
  await call(1);
  await setFrozen(database, accountId, true);
  await tell();
  await sendLetters(database, people);
  expect(box.letters).toHaveLength(1);
  await setFrozen(database, accountId, false);
  await tell();
  await sendLetters(database, people);
  expect(box.letters).toHaveLength(2);
});

let serial = 0;
/** A key of an account with a webhook that wants every event. */
async function keyed(cap: number | null) {
  const accountId = await rig.account();
  const keyId = `key_${++serial}`;
  await rig.database.query(
    `insert into api_key (id, account_id, mode, name, hmac, prefix, last4, scopes, monthly_cap, created_at)
     values ($1, $2, 'live', 'shop', $3, 'dq_live_', 'abcd', '{data:query}', $4, $5)`,
    [keyId, accountId, Buffer.from(keyId), cap, new Date(rig.nowMs)],
  );
  await rig.database.query(
    `insert into webhook (id, account_id, url, events, enabled, secret, created_at)
     values ($1, $2, 'https://shop.example', '{key.near_cap,key.unusual,vendor.failing,payments.failing,payment.charged_back,customer.charged_back}', true, '', $3)`,
    [`wh_${keyId}`, accountId, new Date(rig.nowMs)],
  );
  return { accountId, keyId };
}

/** The account has spent just now, so that it is looked at. */
const entry = (accountId: string) =>
  rig.database.query(
    `insert into entry (account_id, seq, at, kind, paid, adjustments, balance_after, actor, note)
     select $1, coalesce(max(seq), 0) + 1, $2, 'adjust', 0, 0, 0, 'test', 'test' from entry where account_id = $1`,
    [accountId, new Date(rig.nowMs)],
  );
const take = async (...accountIds: string[]): Promise<Alert[]> => {
  const taken = await takeAlerts(rig.database, new Date(rig.nowMs - 60_000), new Date(rig.nowMs));
  return taken.filter(({ accountId }) => accountIds.includes(accountId));
};
const messages = async (accountId: string) =>
  (
    await rig.database.query<{ type: string; data: object }>(
      "select type, body::jsonb -> 'data' as data from webhook_message where account_id = $1 order by created_at, type",
      [accountId],
    )
  ).rows;

test("a key near its cap is told once a month, with its share from the settings", async () => {
  const { accountId, keyId } = await keyed(1_000);
  const spend = async (tokens: number, month: string) => {
    await rig.database.query(
      `insert into key_spend (key_id, month, tokens) values ($1, $2, $3)
       on conflict (key_id, month) do update set tokens = excluded.tokens`,
      [keyId, month, tokens],
    );
    await entry(accountId);
  };
  rig.nowMs = Date.parse("2026-03-20T04:00:00Z");
  await spend(799, "2026-03");
  expect(await take(accountId)).toEqual([]);
  await spend(800, "2026-03");
  const data = { key_id: keyId, name: "shop", last4: "abcd", month: "2026-03", spent: 800, cap: 1_000 };
  const twice = await Promise.all([take(accountId), take(accountId)]);
  expect(twice.flat()).toEqual([{ accountId, kind: "key.near_cap", data }]);
  expect(await messages(accountId)).toEqual([{ type: "key.near_cap", data }]);
  await spend(1_000, "2026-03");
  expect(await take(accountId)).toEqual([]);
  // April begins in China eight hours before it does in UTC.
  rig.nowMs = Date.parse("2026-03-31T16:00:00Z");
  await spend(900, "2026-04");
  await setThresholds(rig.database, accountId, { cap_percent: 95 });
  expect(await take(accountId)).toEqual([]);
  await setThresholds(rig.database, accountId, { cap_percent: 0 });
  await spend(1_000, "2026-04");
  expect(await take(accountId)).toEqual([]);
  await setThresholds(rig.database, accountId, { cap_percent: 90 });
  expect(await take(accountId)).toHaveLength(1);
  const people = openPeople();
  await rig.database.query("update people.member set account_id = $1 where user_id = 'u'", [accountId]);
  await people.tellOwners(accountId, { about: "key.near_cap", data }, rig.database);
  await sendLetters(rig.database, people);
  const letter = await box.next("wang@example.com", "monthly cap");
  expect(letter.text).toContain("800 tokens in 2026-03 of a cap of 1,000");
  expect(letter.link).toBe("https://data.example/console/keys");
});

test("unusual is what exceeds the key's own last four weeks by the factor, whatever it spent when", async () => {
  const day = fc.record({
    back: fc.integer({ min: 1, max: 40 }),
    tokens: fc.integer({ min: 0, max: 400_000 }),
  });
  const history = fc.record({
    days: fc.uniqueArray(day, { maxLength: 8, selector: ({ back }) => back }),
    spent: fc.integer({ min: 0, max: 1_000_000 }),
    factor: fc.constantFrom(0, 1, 2.5, 3),
  });
  await fc.assert(
    fc.asyncProperty(history, async ({ days, spent, factor }) => {
      rig.nowMs += 86_400_000;
      const { accountId, keyId } = await keyed(null);
      await setThresholds(rig.database, accountId, { spend_factor: factor });
      for (const { back, tokens } of [...days, { back: 0, tokens: spent }])
        await rig.database.query(
          `insert into usage_quarter (account_id, at, operation, key_id, calls, billed, cached, failed, tokens)
           values ($1, $2, 'x', $3, 1, 1, 0, 0, $4)`,
          [accountId, new Date(rig.nowMs - back * 86_400_000), keyId, tokens],
        );
      await entry(accountId);
      const known = days.filter(({ back }) => back <= 28);
      const most = Math.max(0, ...known.map(({ tokens }) => tokens));
      const isInUse = known.some(({ back }) => back >= 7);
      const isUnusual = isInUse && factor > 0 && spent >= 50_000 && spent > most * factor;
      const told = await take(accountId);
      expect(told.map(({ kind, data }) => [kind, data])).toEqual(
        isUnusual
          ? [["key.unusual", expect.objectContaining({ key_id: keyId, spent, usual_most: most })]]
          : [],
      );
      expect(await take(accountId)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test("operators are told of a vendor that fails, once until it works again", async () => {
  const { accountId } = await keyed(null);
  await rig.database.query("update account set role = 'admin' where id = $1", [accountId]);
  let run = 0;
  const leave = async (outcome: "failed" | "answered") => {
    rig.nowMs += 1_000;
    const id = `call_${++run}`;
    await rig.database.query(
      "select leave_contract('qichacha', $1, $2, $3, 'upstream_timeout', 3, null, null, 504, 9)",
      [id, rig.nowMs, outcome],
    );
  };
  await rig.database.query("insert into contract_state (contract) values ('qichacha')");
  for (let i = 0; i < 2; i++) await leave("failed");
  expect(await take(accountId)).toEqual([]);
  await leave("failed");
  const told = await take(accountId);
  const data = { contract: "qichacha", failures: 3, last_failure: "upstream_timeout" };
  expect(told).toEqual([{ accountId, kind: "vendor.failing", data }]);
  expect(await messages(accountId)).toEqual([{ type: "vendor.failing", data }]);
  await leave("failed");
  expect(await take(accountId)).toEqual([]);
  // A vendor that comes and goes is told once an hour.
  await leave("answered");
  expect(await take(accountId)).toEqual([]);
  for (let i = 0; i < 3; i++) await leave("failed");
  expect(await take(accountId)).toEqual([]);
  await leave("answered");
  rig.nowMs += 3_700_000;
  expect(await take(accountId)).toEqual([]);
  for (let i = 0; i < 3; i++) await leave("failed");
  expect(await take(accountId)).toHaveLength(1);
});

test("operators are told of a payment provider that does not accept the keys, once until it does again", async () => {
  const { accountId } = await keyed(null);
  await rig.database.query("update account set role = 'admin' where id = $1", [accountId]);
  await rig.database.query("update contract_state set opened_at = null");
  const begin = () =>
    codeOf(() => rig.payments.create(accountId, { provider: "wechat", amountFen: 100 }, rig.author));
  rig.providers.acceptsKeys = false;
  expect(await begin()).toBe("payment_refused");
  const data = { provider: "wechat", said: "WeChat Pay answered 401 SIGN_ERROR: 签名错误", right: null };
  expect(await take(accountId)).toEqual([{ accountId, kind: "payments.failing", data }]);
  expect(await messages(accountId)).toEqual([{ type: "payments.failing", data }]);
  expect(await begin()).toBe("payment_refused");
  expect(await take(accountId)).toEqual([]);
  rig.providers.acceptsKeys = true;
  expect(await begin()).toBeUndefined();
  rig.nowMs += 3_700_000;
  expect(await take(accountId)).toEqual([]);
  rig.providers.acceptsKeys = false;
  expect(await begin()).toBe("payment_refused");
  expect(await take(accountId)).toHaveLength(1);
});

test("the customer and the operators are told of a payment that a bank took back, and of one that it gave back", async () => {
  const { accountId: operatorId } = await keyed(null);
  rig.providers.acceptsKeys = true;
  await rig.database.query("update account set role = 'admin' where id = $1", [operatorId]);
  await take(operatorId);
  const { accountId } = await keyed(null);
  const { id } = await rig.payments.create(accountId, { provider: "stripe", amountFen: 10_000 }, rig.author);
  await rig.deliver(rig.providers.pay(id));
  const own = { actor: "test", note: "spent", now: new Date(rig.nowMs) };
  await adjust(rig.database, accountId, -1_000_000, own);
  expect(await take(accountId)).toEqual([]);
  expect(await rig.deliver(rig.providers.dispute(id))).toBeUndefined();
  const [{ id: return_id } = { id: "" }] = (await rig.payments.find(id))!.returns;
  const data = { payment_id: id, return_id, provider: "stripe", amount_fen: 10_000, frozen: true };
  const more = { customer_id: accountId, customer_name: "payer" };
  const told = (state: string, lost_tokens: number) => [
    { accountId, kind: "payment.charged_back", data: { ...data, state } },
    {
      accountId: operatorId,
      kind: "customer.charged_back",
      data: { ...data, state, ...more, lost_tokens },
    },
  ];
  const first = await take(accountId, operatorId);
  expect(first).toEqual(told("taken", 1_000_000));
  expect(await messages(accountId)).toEqual([{ type: "payment.charged_back", data: first[0]?.data }]);
  expect(await take(accountId, operatorId)).toEqual([]);
  // Nobody unfreezes the account when the dispute is won, so both are told that it is frozen.
  expect(await rig.deliver(rig.providers.winDispute(id))).toBeUndefined();
  expect(await take(accountId, operatorId)).toEqual(told("given_back", 1_000_000));
  expect(await take(accountId, operatorId)).toEqual([]);

  const [taken, given] = (["taken", "given_back"] as const).map(
    (state) =>
      letterOf(
        {
          about: "customer.charged_back",
          data: { ...data, provider: "stripe", state, ...more, lost_tokens: 1_000_000 },
        },
        "https://data.example/console",
      ).text,
  );
  const failing = { contract: "gleif", failures: 5, last_failure: "The vendor answered with status 404." };
  const { text } = letterOf({ about: "vendor.failing", data: failing }, "https://data.example/console");
  expect(text).toContain("with The vendor answered with status 404. It is paused");
  expect(text).toContain("status 404。系统已暂停");
  expect(taken).toContain(`100.00 CNY (${id}, by stripe). 20.00 CNY of it were spent before`);
  expect(taken).toContain("其中 20.00 元已被花掉");
  expect(given).toContain("still frozen");
  expect(given).toContain("https://data.example/console/admin/payments");
});

test("operators are told which right a key of Stripe lacks, until it has it, whatever else works", async () => {
  const { accountId } = await keyed(null);
  await rig.database.query("update account set role = 'admin' where id = $1", [accountId]);
  rig.providers.acceptsKeys = true;
  const begin = () => rig.payments.create(accountId, { provider: "stripe", amountFen: 2_000 }, rig.author);
  const { id } = await begin();
  expect(await rig.deliver(rig.providers.pay(id))).toBeUndefined();
  await rig.database.query("delete from provider_shut");
  await take(accountId);
  const refund = () => codeOf(() => rig.payments.refund(id, { amountFen: 500, reason: "asked" }, rig.author));
  rig.providers.lacks = "POST /refunds";
  expect(await refund()).toBe("payment_refused");
  const data = {
    provider: "stripe",
    said: "Stripe answered 403: The provided key does not have the required permissions",
    right: "write refunds",
  };
  expect(await take(accountId)).toEqual([{ accountId, kind: "payments.failing", data }]);
  // It may still begin payments, which says nothing of refunds.
  expect((await begin()).state).toBe("open");
  expect(await listShutOut(rig.database)).toMatchObject([data]);
  rig.providers.lacks = "";
  expect(await refund()).toBeUndefined();
  expect(await listShutOut(rig.database)).toEqual([]);
});
