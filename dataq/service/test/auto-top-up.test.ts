import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Transaction } from "../src/database/transaction.ts";
import { recover } from "../src/ledger/instance.ts";
import { topUp } from "../src/ledger/movement.ts";
import { type FailedCharge, tellFailedCharges } from "../src/payments/auto-top-up.ts";
import type { PaymentFailpoint } from "../src/payments/failpoint.ts";
import { addLetters } from "../src/people/owner-letters.ts";
import { freeJobs } from "../src/webhooks/queue.ts";
import { openLetterBox } from "./letter-box.ts";
import { PaymentRig } from "./payment-rig.ts";
import { startService } from "./service-process.ts";

const DAY = 86_400_000;
const LOW = 100_000;
let rig: PaymentRig;
let told: FailedCharge[] = [];
beforeAll(async () => {
  rig = await PaymentRig.start();
}, 60_000);
afterAll(() => rig?.[Symbol.asyncDispose]());
beforeEach(() => {
  rig.providers.charges = "made";
  rig.providers.losesAnswers = false;
  rig.providers.isDown = false;
  rig.providers.acceptsKeys = true;
  rig.providers.knowsCustomers = true;
  told = [];
});

/** An account that allows charges of 20 CNY below two yuan, and at most 50 CNY a month. */
async function saver(isSaved = true): Promise<string> {
  const id = await rig.account();
  await allow(id);
  if (isSaved) await rig.deliver(rig.providers.saveCard((await rig.payments.autoTopUp(id))!.setupUrl!));
  return id;
}
const allow = (id: string, mostFen = 5_000, newCard = false) =>
  rig.payments.allowAuto(id, { lowTokens: LOW, amountFen: 2_000, mostFen, newCard }, rig.author);
const paidOf = async (id: string): Promise<number> =>
  (await rig.database.query<{ paid: number }>("select paid from wallet where account_id = $1", [id])).rows[0]!
    .paid;
const spendAll = (id: string) =>
  rig.database.query(
    `with w as (update wallet set paid = 0, part_paid = -paid, seq = seq + 1, touched_at = $2 where account_id = $1 returning *)
     insert into entry (account_id, seq, at, kind, paid, adjustments, balance_after, actor, note)
     select account_id, seq, touched_at, 'adjust', part_paid, -part_paid, trial + paid + credit, 'test', 'spent' from w`,
    [id, new Date(rig.nowMs)],
  );
const paymentsOf = async (id: string) =>
  (
    await rig.database.query<{ id: string; state: string }>(
      "select id, state from payment where account_id = $1 order by id",
      [id],
    )
  ).rows;
/** What the sweeper does, of two services. */
const chargeAndPass = async (ms = 1_000) => {
  await rig.payments.chargeDue();
  const tell = () => tellFailedCharges(rig.database, async (failed) => void told.push(failed));
  await Promise.all([tell(), tell()]);
  rig.nowMs += ms;
};

test("a low balance is charged once, up to the sum of the month, and again in the next month", async () => {
  const id = await saver();
  expect((await rig.payments.autoTopUp(id))!).toMatchObject({
    state: "on",
    label: "visa ···· 4242",
    setupId: null,
  });
  // Several services look at once.
  await Promise.all([rig.payments.chargeDue(), rig.payments.chargeDue(), rig.payments.chargeDue()]);
  expect(await paidOf(id)).toBe(1_000_000);
  await chargeAndPass();
  expect(await paymentsOf(id)).toHaveLength(1);
  await spendAll(id);
  await chargeAndPass();
  expect(await paidOf(id)).toBe(1_000_000);
  await spendAll(id);
  // A third charge would be 60 CNY.
  await chargeAndPass(31 * DAY);
  expect(await paidOf(id)).toBe(0);
  await chargeAndPass();
  expect(await paidOf(id)).toBe(1_000_000);
  expect(await rig.brokenLaws()).toEqual([]);
});

test("nothing is charged without a card, above the mark, after the end, or from a frozen account", async () => {
  const [unsaved, rich, ended, frozen] = [await saver(false), await saver(), await saver(), await saver()];
  await topUp(rig.database, rich, LOW, `rich:${rich}`, {
    actor: "test",
    note: "test",
    now: new Date(rig.nowMs),
  });
  await rig.database.query("delete from auto_top_up where account_id = $1", [ended]);
  await rig.database.query("update wallet set frozen = true where account_id = $1", [frozen]);
  await chargeAndPass();
  for (const id of [unsaved, rich, ended, frozen]) expect(await paymentsOf(id)).toEqual([]);
});

test("a declined card is tried three times with pauses, the owners are told, and then nothing is charged until they allow it", async () => {
  const id = await saver();
  rig.providers.charges = "card_declined";
  await rig.database.query(
    `insert into webhook (id, account_id, url, events, enabled, secret, created_at)
     values ('wh_' || $1, $1, 'https://shop.example', '{top_up.failed}', true, '', $2)`,
    [id, new Date(rig.nowMs)],
  );
  for (const pauseHours of [6, 12]) {
    await chargeAndPass(pauseHours * 3_600_000 - 2);
    await chargeAndPass(2);
  }
  await chargeAndPass(DAY);
  await chargeAndPass();
  expect((await paymentsOf(id)).map(({ state }) => state)).toEqual(["failed", "failed", "failed"]);
  const reason = "card_declined";
  expect(told).toEqual([false, false, true].map((isStopped) => ({ accountId: id, reason, isStopped })));
  const messages = await rig.database.query<{ body: string }>(
    "select body from webhook_message where account_id = $1 order by created_at",
    [id],
  );
  const [first, , last] = messages.rows.map(({ body }) => JSON.parse(body));
  expect(first).toMatchObject({
    type: "top_up.failed",
    data: { amount_fen: 2_000, reason, state: "on", failures: 1 },
  });
  expect(Date.parse(first.data.retry_at) - Date.parse(first.timestamp)).toBe(6 * 3_600_000);
  expect(last.data).toMatchObject({ state: "stopped", failures: 3, retry_at: null });
  expect(messages.rows).toHaveLength(3);
  expect(await rig.payments.autoTopUp(id)).toMatchObject({ state: "stopped", failures: 3, reason });
  rig.providers.charges = "made";
  await chargeAndPass();
  expect(await paidOf(id)).toBe(0);
  await allow(id);
  await chargeAndPass();
  expect(await paidOf(id)).toBe(1_000_000);
});

test("a slow charge is the only one, and is credited once whether it is heard of, asked for, or both in any order", async () => {
  for (const order of ["hear", "ask", "hear ask", "ask hear hear"]) {
    rig.providers.charges = "slow";
    const id = await saver();
    await chargeAndPass();
    await chargeAndPass();
    const [payment] = await paymentsOf(id);
    expect(await paymentsOf(id)).toHaveLength(1);
    expect(payment!.state).toBe("open");
    const notice = rig.providers.endCharge(payment!.id, "paid");
    for (const step of order.split(" ")) {
      rig.nowMs += 3_600_000;
      if (step === "hear") await rig.deliver(notice.again?.() ?? notice);
      else await rig.payments.askDue();
    }
    expect(await paidOf(id)).toBe(1_000_000);
  }
  rig.providers.charges = "slow";
  const id = await saver();
  await chargeAndPass();
  const [payment] = await paymentsOf(id);
  const refused = rig.providers.endCharge(payment!.id, "closed", "card_declined");
  await rig.deliver(refused);
  // A charge in between is another one, and the old notice says nothing of it.
  await chargeAndPass(6 * 3_600_000);
  await chargeAndPass();
  await rig.deliver(rig.providers.endCharge(payment!.id, "closed", "authentication_required"));
  expect(await rig.payments.autoTopUp(id)).toMatchObject({
    state: "on",
    failures: 1,
    reason: "card_declined",
  });
  expect((await paymentsOf(id)).map(({ state }) => state)).toEqual(["failed", "open"]);
  expect(told).toEqual([{ accountId: id, reason: "card_declined", isStopped: false }]);
  expect(await paidOf(id)).toBe(0);
});

test("a bank that wants to see the customer stops the charges at once, however that is heard of", async () => {
  for (const isSlow of [false, true]) {
    const id = await saver();
    rig.providers.charges = isSlow ? "slow" : "authentication_required";
    await chargeAndPass();
    const [payment] = await paymentsOf(id);
    const refused = rig.providers.endCharge(payment!.id, "closed", "authentication_required");
    for (let times = 0; times < 2; times++) await rig.deliver(refused.again!());
    await chargeAndPass(31 * DAY);
    await chargeAndPass();
    expect((await paymentsOf(id)).map(({ state }) => state)).toEqual(["failed"]);
    const reason = "authentication_required";
    expect(told.filter(({ accountId }) => accountId === id)).toEqual([
      { accountId: id, reason, isStopped: true },
    ]);
    expect(await rig.payments.autoTopUp(id)).toMatchObject({ state: "stopped", failures: 1, reason });
  }
});

test.each<PaymentFailpoint | "answer" | "down">([
  "before_charge",
  "after_charge",
  "before_credit_payment",
  "after_credit_payment",
  "answer",
  "down",
])("a service that ends at %s charges once and credits once", async (at) => {
  const id = await saver();
  if (at === "answer") rig.providers.losesAnswers = true;
  else if (at === "down") rig.providers.isDown = true;
  else rig.killAt = at;
  await rig.payments.chargeDue().catch(() => {});
  rig.providers.losesAnswers = false;
  rig.providers.isDown = false;
  rig.nowMs += 60_000;
  await rig.payments.askDue();
  rig.nowMs += 60_000;
  await rig.payments.askDue();
  expect(await paidOf(id)).toBe(1_000_000);
  expect(await paymentsOf(id)).toEqual([expect.objectContaining({ state: "paid" })]);
  const payment = (await paymentsOf(id))[0]!.id;
  expect(rig.providers.balanceFen(payment)).toBe(2_000);
  // The next one may begin.
  await spendAll(id);
  await chargeAndPass();
  expect(await paymentsOf(id)).toHaveLength(2);
  expect(await rig.brokenLaws()).toEqual([]);
});

test("a provider that is away for days ends the charge as unknown, and the next one may begin", async () => {
  const id = await saver();
  rig.providers.isDown = true;
  await chargeAndPass(3 * DAY);
  await rig.payments.askDue();
  await chargeAndPass();
  expect((await paymentsOf(id)).map(({ state }) => state)).toEqual(["expired"]);
  expect(await rig.payments.autoTopUp(id)).toMatchObject({ state: "on", failures: 1, reason: "no_answer" });
  expect(told).toEqual([{ accountId: id, reason: "no_answer", isStopped: false }]);
  rig.providers.isDown = false;
  await chargeAndPass(6 * 3_600_000);
  await chargeAndPass();
  expect(await paidOf(id)).toBe(1_000_000);
});

test("a charge whose answer was lost stays open while Stripe does not accept our key, and is neither failed nor made again", async () => {
  const id = await saver();
  rig.killAt = "after_charge";
  await rig.payments.chargeDue().catch(() => {});
  rig.killAt = undefined;
  rig.providers.acceptsKeys = false;
  for (let times = 0; times < 3; times++) await rig.ask(3_600);
  await chargeAndPass();
  const [payment, ...others] = await paymentsOf(id);
  expect([payment!.state, others, told]).toEqual(["open", [], []]);
  rig.providers.acceptsKeys = true;
  await rig.ask(3_600);
  expect(await paymentsOf(id)).toEqual([{ id: payment!.id, state: "paid" }]);
  expect(await paidOf(id)).toBe(1_000_000);
  expect(rig.providers.chargedTwice).toBe(0);
});

test("a charge that Stripe cannot look up, because its key is another account's, is not failed either", async () => {
  const id = await saver();
  rig.killAt = "after_charge";
  await rig.payments.chargeDue().catch(() => {});
  rig.killAt = undefined;
  rig.providers.knowsCustomers = false;
  await rig.ask(3_600);
  const [payment] = await paymentsOf(id);
  expect(payment!.state).toBe("open");
  rig.providers.knowsCustomers = true;
  await rig.ask(3_600);
  expect(await paymentsOf(id)).toEqual([{ id: payment!.id, state: "paid" }]);
  expect(rig.providers.chargedTwice).toBe(0);
});

test.each(["made", "slow", "never"] as const)(
  "a charge that expired while the provider was away is found afterwards, and not made again: %s",
  async (charge) => {
    const id = await saver();
    if (charge === "never") rig.providers.isDown = true;
    else rig.providers.charges = charge;
    rig.killAt = "after_charge";
    await rig.payments.chargeDue().catch(() => {});
    rig.killAt = undefined;
    rig.providers.isDown = true;
    // More than once, because one question is easily lost.
    for (const days of [2.1, 1]) await rig.ask((days * DAY) / 1_000);
    const [payment] = await paymentsOf(id);
    expect(payment!.state).toBe("expired");
    expect(await rig.payments.autoTopUp(id)).toMatchObject({ failures: 1, reason: "no_answer" });
    rig.providers.isDown = false;
    if (charge === "slow") {
      await rig.ask(3_600);
      expect(await paymentsOf(id)).toEqual([payment]);
      rig.providers.endCharge(payment!.id, "paid");
    }
    rig.providers.charges = "made";
    await rig.ask(3_600);
    await rig.ask(3_600);
    const state = charge === "never" ? "failed" : "paid";
    expect(await paymentsOf(id)).toEqual([{ id: payment!.id, state }]);
    expect(await paidOf(id)).toBe(charge === "never" ? 0 : 1_000_000);
    expect(await rig.ledgerFen(payment!.id)).toBe(rig.providers.balanceFen(payment!.id));
    expect(rig.providers.chargedTwice).toBe(0);
    // Nobody asks any more.
    const due = await rig.database.query("select from payment where id = $1 and ask_at is not null", [
      payment!.id,
    ]);
    expect(due.rowCount).toBe(0);
  },
);

test("a card whose notification is lost is found when somebody looks, and a forged one changes nothing", async () => {
  const id = await saver(false);
  const setup = (await rig.payments.autoTopUp(id))!;
  const notice = rig.providers.saveCard(setup.setupUrl!);
  expect(await rig.deliver({ ...notice, body: notice.body.replace("cs_setup", "cs_setup9") })).toBe(
    "invalid_notification",
  );
  expect(await rig.payments.autoTopUp(id)).toMatchObject({ state: "on", setupUrl: null });
  await expect(allow(id, 1_999)).rejects.toMatchObject({ code: "invalid_params" });
});

test("the email about a failed charge is sent although the service that sends it is killed, and not lost with its job", async () => {
  await using box = await openLetterBox();
  const id = await saver();
  const { database, folder } = rig;
  await database.query(
    `insert into people."user" ("id", "name", "email", "emailVerified") values ('u', 'Qian', 'qian@example.com', true)`,
  );
  await database.query(
    "insert into people.member (user_id, account_id, role, created_at) values ('u', $1, 'owner', now())",
    [id],
  );
  rig.providers.charges = "card_declined";
  await rig.payments.chargeDue();
  const write = (failed: FailedCharge, transaction: Transaction) =>
    addLetters(transaction, failed.accountId, { about: "top_up.failed", data: failed });
  // A process that ends before the job is stored has told nobody.
  const ending = tellFailedCharges(database, async (failed, transaction) => {
    await write(failed, transaction);
    throw new Error("killed");
  });
  await expect(ending).rejects.toThrow("killed");
  await Promise.all([tellFailedCharges(database, write), tellFailedCharges(database, write)]);

  const start = () =>
    startService({ folder, env: { SMTP_URL: box.url, DATAQ_SAMPLES: "off", DATAQ_LAWS: "off" } });
  box.hangs = true;
  await using doomed = await start();
  await expect.poll(() => box.held, { timeout: 20_000 }).toBe(1);
  await doomed.kill();
  box.hangs = false;
  await using next = await start();
  // As every sweep does. PostgreSQL needs a moment to notice that a connection is gone.
  await expect
    .poll(
      async () => {
        await recover(database, new Date());
        await freeJobs(database);
        return box.letters.length;
      },
      { timeout: 20_000 },
    )
    .toBe(1);
  expect(box.letters[0]).toMatchObject({ to: "qian@example.com", link: `${next.url}/console/top-up` });
  expect(box.letters[0]!.text).toContain("银行拒绝扣款");
}, 60_000);
