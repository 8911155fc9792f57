import { afterAll, beforeAll, expect, test } from "vitest";
import { tellLowBalances } from "../src/alerts/low-balance.ts";
import { adjust, topUp } from "../src/ledger/movement.ts";
import { People } from "../src/people/people.ts";
import { type LetterBox, openLetterBox } from "./letter-box.ts";
import { PaymentRig } from "./payment-rig.ts";

let rig: PaymentRig;
let box: LetterBox;
beforeAll(async () => {
  [rig, box] = await Promise.all([PaymentRig.start(), openLetterBox()]);
}, 60_000);
afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
  await box?.close();
});

test("owners get one email when calls bring the balance below the mark, and another after a top-up", async () => {
  const accountId = await rig.account();
  const { database } = rig;
  const people = new People({
    database,
    secret: "x".repeat(32),
    mode: "hosted",
    signup: "open",
    smtpUrl: box.url,
    publicUrl: () => "https://data.example",
    clock: () => new Date(rig.nowMs),
    onWarning: (_, error) => {
      throw error;
    },
  });
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
    const told = (id: string, low: { balance: number; mark: number }) => people.tellOfLowBalance(id, low);
    return tellLowBalances(database, new Date(rig.nowMs - 60_000), new Date(rig.nowMs), told);
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
  expect(box.letters).toHaveLength(1);
  await call(1);
  await tell();
  expect(box.letters).toHaveLength(2);
});
