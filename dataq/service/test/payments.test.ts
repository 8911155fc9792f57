import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTransaction } from "../src/database/transaction.ts";
import { closeAccount } from "../src/leaving/closing.ts";
import { adjust, setCreditLimit } from "../src/ledger/movement.ts";
import { listShutOut } from "../src/payments/admission.ts";
import { paymentFailpoints } from "../src/payments/failpoint.ts";
import { commitWithoutDisk } from "./data-folder.ts";
import { paymentStep, playPayments } from "./payment-model.ts";
import { type Notice, type OnlineProvider, onlineProviders } from "./payment-providers.ts";
import { codeOf, PaymentRig } from "./payment-rig.ts";

let rig: PaymentRig;
beforeAll(async () => {
  rig = await PaymentRig.start();
}, 60_000);
afterAll(() => rig?.[Symbol.asyncDispose]());

const FEN = 1_000;
const TOKENS = 500_000;

async function begun(provider: OnlineProvider | "bank", amountFen = FEN) {
  const accountId = await rig.account();
  const payment = await rig.payments.create(accountId, { provider, amountFen }, rig.author);
  return { accountId, id: payment.id, payment };
}
async function paid(provider: OnlineProvider) {
  const made = await begun(provider);
  expect(await rig.deliver(rig.providers.pay(made.id))).toBeUndefined();
  return made;
}
const refund = (id: string, amountFen: number) => {
  rig.nowMs += 1;
  return codeOf(() => rig.payments.refund(id, { amountFen, reason: "wrong account" }, rig.author));
};
const spend = (accountId: string, tokens: number) =>
  adjust(rig.database, accountId, -tokens, { actor: "test", note: "spent", now: new Date(rig.nowMs) });
const stateOf = async (id: string) => (await rig.payments.find(id))!;

/** What the provider has of this payment is in the ledger, and the books balance. */
async function expectAgreement(id: string): Promise<void> {
  expect(await rig.brokenLaws()).toEqual([]);
  expect(await rig.ledgerFen(id)).toBe(rig.providers.balanceFen(id));
}

describe.each(onlineProviders)("a payment by %s", (provider) => {
  test("is credited once by its notification, however often it comes", async () => {
    const { accountId, id, payment } = await begun(provider);
    expect(payment).toMatchObject({ state: "open", amountFen: FEN, tokens: TOKENS });
    expect(payment.url ?? payment.qr).toMatch(/^(https:\/\/|weixin:\/\/)/);
    const first = rig.providers.pay(id);
    // The same notification twice at once, then again, then another one of the same fact.
    expect(await Promise.all([rig.deliver(first), rig.deliver(first)])).toEqual([undefined, undefined]);
    await rig.deliver(first);
    await rig.deliver(rig.providers.noticeOfTrade(id));
    expect(await rig.entries(accountId)).toEqual([["topup", TOKENS]]);
    expect(await stateOf(id)).toMatchObject({ state: "paid", heardBy: "notification", trouble: null });
    await expectAgreement(id);
  });

  test("is credited without any notification", async () => {
    const { accountId, id } = await begun(provider);
    await rig.ask(6);
    expect((await stateOf(id)).state).toBe("open");
    rig.providers.pay(id);
    await rig.ask(30);
    expect(await rig.entries(accountId)).toEqual([["topup", TOKENS]]);
    expect((await stateOf(id)).heardBy).toBe("question");
    await expectAgreement(id);
  });

  test("that nobody makes expires, and is credited if the money comes after all", async () => {
    const { accountId, id } = await begun(provider);
    const closed = rig.providers.close(id);
    // WeChat Pay sends no notification of a closed payment.
    if (provider !== "wechat") await rig.deliver(closed);
    else await rig.ask(2 * 3_600 + 60);
    expect((await stateOf(id)).state).toBe("expired");
    rig.providers.trades.get(id)!.state = "open";
    await rig.deliver(rig.providers.pay(id));
    await rig.deliver(closed);
    expect((await stateOf(id)).state).toBe("paid");
    expect((await rig.wallet(accountId)).paid).toBe(TOKENS);
  });

  test("of another amount is not credited, and a person is told", async () => {
    const { accountId, id } = await begun(provider);
    const trade = rig.providers.trades.get(id)! as { amountFen: number };
    trade.amountFen = 1;
    expect(await rig.deliver(rig.providers.pay(id))).toBeUndefined();
    expect(await rig.entries(accountId)).toEqual([]);
    const [{ number: transaction = "" } = {}] = [rig.providers.trades.get(id)];
    expect((await stateOf(id)).trouble).toMatchObject({
      code: "other_amount",
      transaction: expect.stringContaining(transaction),
      amount: 1,
      currency: "CNY",
    });
    trade.amountFen = FEN;
    await rig.deliver(rig.providers.noticeOfTrade(id));
    expect((await rig.wallet(accountId)).paid).toBe(TOKENS);
  });

  test("is refunded in parts, never beyond what was paid or what is unspent", async () => {
    const { accountId, id } = await paid(provider);
    expect(await refund(id, 300)).toBeUndefined();
    await spend(accountId, 200 * 500);
    expect(await refund(id, 501)).toBe("invalid_params");
    expect(await refund(id, 701)).toBe("invalid_params");
    expect(await refund(id, 500)).toBeUndefined();
    expect(await refund(id, 1)).toBe("invalid_params");
    expect(await rig.entries(accountId)).toEqual([
      ["topup", TOKENS],
      ["refund", -150_000],
      ["adjust", -100_000],
      ["refund", -250_000],
    ]);
    const { returns } = await stateOf(id);
    expect(returns.map(({ state, amountFen }) => [state, amountFen])).toEqual([
      ["done", 300],
      ["done", 500],
    ]);
    for (const one of returns) await rig.deliver(rig.providers.noticeOfRefund(id, one.id));
    await expectAgreement(id);
  });

  test("keeps its tokens if the provider refuses the refund, and gives none twice if its answer is lost", async () => {
    const { accountId, id } = await paid(provider);
    rig.providers.refusesRefunds = true;
    expect(await refund(id, 400)).toBe("payment_refused");
    rig.providers.refusesRefunds = false;
    expect((await rig.wallet(accountId)).paid).toBe(TOKENS);
    rig.providers.losesAnswers = true;
    expect(await refund(id, 400)).toBeUndefined();
    rig.providers.losesAnswers = false;
    expect((await stateOf(id)).returns.map(({ state }) => state)).toEqual(["failed", "pending"]);
    await rig.ask(60);
    await rig.ask(600);
    expect((await stateOf(id)).returns.map(({ state }) => state)).toEqual(["failed", "done"]);
    expect((await rig.wallet(accountId)).paid).toBe(600 * 500);
    await expectAgreement(id);
  });

  test("that was refunded at the provider's own pages is booked even if we never heard of the payment", async () => {
    const { accountId, id } = await begun(provider);
    rig.providers.pay(id);
    const notice = rig.providers.refundOutside(id, 250);
    rig.providers.isDown = true;
    // Stripe and Alipay must be asked before the notification is understood.
    expect(await rig.deliver(notice)).toBe("payment_refused");
    rig.providers.isDown = false;
    expect(await rig.deliver(notice)).toBeUndefined();
    await rig.deliver(notice);
    expect(await rig.entries(accountId)).toEqual([
      ["topup", TOKENS],
      ["refund", -125_000],
    ]);
    await expectAgreement(id);
  });

  test("that was made while the provider was away for days is credited when it answers", async () => {
    const { accountId, id } = await begun(provider);
    rig.providers.pay(id);
    rig.providers.isDown = true;
    for (const days of [2, 1]) await rig.ask(days * 86_400);
    expect((await stateOf(id)).state).toBe("expired");
    rig.providers.isDown = false;
    await rig.ask(3_600);
    expect(await rig.entries(accountId)).toEqual([["topup", TOKENS]]);
    await expectAgreement(id);
  });

  test("and its refund wait while the provider does not accept our keys, and are booked when it does again", async () => {
    const { accountId, id } = await begun(provider);
    rig.providers.pay(id);
    const other = await paid(provider);
    rig.providers.losesAnswers = true;
    expect(await refund(other.id, 400)).toBeUndefined();
    rig.providers.losesAnswers = false;
    rig.providers.acceptsKeys = false;
    for (const seconds of [60, 3_600, 2 * 86_400, 86_400]) await rig.ask(seconds);
    expect((await stateOf(id)).state).toBe("expired");
    expect((await stateOf(other.id)).returns.map(({ state }) => state)).toEqual(["pending"]);
    expect((await rig.wallet(other.accountId)).paid).toBe(600 * 500);
    expect(await listShutOut(rig.database)).toEqual([
      {
        provider,
        since: expect.any(Date),
        said: expect.stringMatching(/wrong key|AppID|签名错误/),
        right: null,
      },
    ]);
    // What is asked for the first time was certainly not done.
    expect(await refund(other.id, 100)).toBe("payment_refused");
    expect((await rig.wallet(other.accountId)).paid).toBe(600 * 500);
    expect(await codeOf(() => begun(provider))).toBe("payment_refused");
    const rows = await rig.database.query("select state from payment order by id desc limit 1");
    expect(rows.rows).toEqual([{ state: "failed" }]);
    rig.providers.acceptsKeys = true;
    for (const seconds of [3_600, 3_600]) await rig.ask(seconds);
    expect(await rig.entries(accountId)).toEqual([["topup", TOKENS]]);
    expect((await stateOf(other.id)).returns.map(({ state }) => state)).toEqual(["done", "failed"]);
    expect(await listShutOut(rig.database)).toEqual([]);
    await expectAgreement(id);
    await expectAgreement(other.id);
  });

  test("is not created at a provider that does not answer, and its row disappears by itself", async () => {
    rig.providers.isDown = true;
    const accountId = await rig.account();
    const made = codeOf(() => rig.payments.create(accountId, { provider, amountFen: FEN }, rig.author));
    expect(await made).toBe("payment_refused");
    rig.providers.isDown = false;
    await rig.ask(2 * 3_600 + 60);
    await rig.ask(26 * 3_600);
    const rows = await rig.database.query("select state from payment where account_id = $1", [accountId]);
    expect(rows.rows).toEqual([{ state: "expired" }]);
  });

  test.each(paymentFailpoints.filter((name) => !name.endsWith("_charge")))(
    "survives a kill at %s",
    async (failpoint) => {
      const accountId = await rig.account();
      rig.killAt = failpoint;
      let id: string | undefined;
      await codeOf(async () => {
        id = (await rig.payments.create(accountId, { provider, amountFen: FEN }, rig.author)).id;
      });
      if (id === undefined) {
        // The customer was shown nothing, so tries again.
        expect(failpoint).toMatch(/create/);
        id = (await rig.payments.create(accountId, { provider, amountFen: FEN }, rig.author)).id;
      }
      const notice = rig.providers.pay(id);
      if ((await rig.deliver(notice)) !== undefined) await rig.deliver(notice);
      await refund(id, 600);
      await rig.ask(120);
      expect(rig.killAt).toBeUndefined();
      expect((await rig.wallet(accountId)).paid).toBe(400 * 500);
      expect((await stateOf(id)).returns.map(({ state }) => state)).toEqual(["done"]);
      await expectAgreement(id);
    },
  );
});

describe("a forged notification", () => {
  const expectRefused = async (notice: Notice, accountId: string) => {
    expect(await rig.deliver(notice)).toBe("invalid_notification");
    expect(await rig.entries(accountId)).toEqual([]);
  };

  test("of Stripe is refused: another secret, a changed body, no signature, an old or a future time", async () => {
    const { accountId, id } = await begun("stripe");
    const genuine = rig.providers.pay(id);
    const object = JSON.parse(genuine.body).data.object as object;
    const event = (atMs: number, secret?: string) =>
      rig.providers.stripeEvent("checkout.session.completed", object, atMs, secret);
    await expectRefused(event(rig.nowMs, "whsec_other"), accountId);
    await expectRefused({ ...genuine, body: genuine.body.replace("cny", "usd") }, accountId);
    await expectRefused({ ...genuine, headers: {} }, accountId);
    for (const header of ["", "t=1", "v1=00", "t=,v1=", `t=${"9".repeat(30)},v1=00`])
      await expectRefused({ ...genuine, headers: { "stripe-signature": header } }, accountId);
    await expectRefused(event(rig.nowMs - 301_000), accountId);
    await expectRefused(event(rig.nowMs + 302_000), accountId);
    expect(await rig.deliver(event(rig.nowMs - 299_000))).toBeUndefined();
    expect(await rig.entries(accountId)).toEqual([["topup", TOKENS]]);
  });

  test("of Alipay is refused: another key, a changed or added field, another app", async () => {
    const { accountId, id } = await begun("alipay");
    const genuine = rig.providers.pay(id);
    const fields = Object.fromEntries(new URLSearchParams(genuine.body));
    const { sign: _, sign_type: __, ...unsigned } = fields;
    await expectRefused(rig.providers.alipayNotice(unsigned, rig.providers.foreignKey), accountId);
    const changes: Record<string, string>[] = [
      { total_amount: "0.01" },
      { more: "x" },
      { sign: "" },
      { sign: "AAAA" },
      { sign_type: "RSA" },
    ];
    for (const change of changes)
      await expectRefused(
        { ...genuine, body: new URLSearchParams({ ...fields, ...change }).toString() },
        accountId,
      );
    await expectRefused(rig.providers.alipayNotice({ ...unsigned, app_id: "2021000000000002" }), accountId);
    expect(await rig.deliver(genuine)).toBeUndefined();
  });

  test("of WeChat Pay is refused: another key, another API key, a changed body, another merchant, an old time", async () => {
    const { accountId, id } = await begun("wechat");
    const genuine = rig.providers.pay(id);
    const content = {
      appid: "wx0000000000000001",
      mchid: "1900000001",
      out_trade_no: id,
      trade_state: "SUCCESS",
      transaction_id: "4200",
      amount: { total: FEN, currency: "CNY" },
    };
    const notice = (change: object, options: object = {}) =>
      rig.providers.wechatNotice("TRANSACTION.SUCCESS", { ...content, ...change }, options);
    await expectRefused(notice({}, { key: rig.providers.foreignKey }), accountId);
    await expectRefused(notice({}, { apiKey: "0".repeat(32) }), accountId);
    await expectRefused(notice({}, { atMs: rig.nowMs - 301_000 }), accountId);
    await expectRefused(notice({}, { atMs: rig.nowMs + 302_000 }), accountId);
    await expectRefused(notice({ mchid: "1900000002" }), accountId);
    await expectRefused({ ...genuine, body: `${genuine.body} ` }, accountId);
    const { "wechatpay-serial": _, ...without } = genuine.headers;
    await expectRefused({ ...genuine, headers: without }, accountId);
    // Signed by the provider, but for another app: it says nothing about a payment of ours.
    expect(await rig.deliver(notice({ appid: "wx9" }))).toBeUndefined();
    expect(await rig.entries(accountId)).toEqual([]);
    expect(await rig.deliver(genuine)).toBeUndefined();
  });

  test("of one provider says nothing about a payment of another", async () => {
    const { accountId, id } = await begun("alipay");
    const stripe = rig.providers.stripeEvent("checkout.session.completed", {
      id: "cs_x",
      client_reference_id: id,
      metadata: { payment: id },
      payment_status: "paid",
      payment_intent: "pi_x",
      amount_total: FEN,
      currency: "cny",
    });
    expect(await rig.deliver(stripe)).toBeUndefined();
    expect(await rig.entries(accountId)).toEqual([]);
  });
});

/** What the audit log says of money that went back and that came back. */
async function moved(id: string) {
  const found = await rig.database.query<{ action: string; kind: string; fen: number }>(
    `select action, after ->> 'kind' as kind, (after ->> 'amount_fen')::int as fen from audit
     where target = $1 and action in ('payment.return', 'payment.given_back') order by id`,
    [id],
  );
  return found.rows;
}

describe("a chargeback", () => {
  test("takes the tokens, freezes the account, and is written back when it is won", async () => {
    const { accountId, id } = await paid("stripe");
    const taken = rig.providers.dispute(id);
    await rig.deliver(taken);
    await rig.deliver(taken);
    expect(await rig.wallet(accountId)).toMatchObject({ paid: 0, frozen: true });
    await expectAgreement(id);
    const won = rig.providers.winDispute(id);
    await rig.deliver(won);
    await rig.deliver(won);
    await rig.deliver(taken);
    expect(await rig.entries(accountId)).toEqual([
      ["topup", TOKENS],
      ["chargeback", -TOKENS],
      ["chargeback", TOKENS],
    ]);
    expect(await moved(id)).toEqual([
      { action: "payment.return", kind: "chargeback", fen: FEN },
      { action: "payment.given_back", kind: "chargeback", fen: FEN },
    ]);
    await expectAgreement(id);
  });

  test("that is won before it is heard of moves nothing", async () => {
    const { accountId, id } = await paid("stripe");
    const taken = rig.providers.dispute(id);
    await rig.deliver(rig.providers.winDispute(id));
    await rig.deliver(taken);
    expect(await rig.entries(accountId)).toEqual([["topup", TOKENS]]);
    expect((await moved(id)).map(({ action }) => action)).not.toContain("payment.given_back");
    expect((await rig.wallet(accountId)).frozen).toBe(false);
    await expectAgreement(id);
  });

  test("that was won unheard does not stand in the way of a refund at the provider's own pages", async () => {
    const { accountId, id } = await paid("stripe");
    await rig.deliver(rig.providers.dispute(id));
    const won = rig.providers.winDispute(id);
    const refunded = rig.providers.refundOutside(id, 152);
    expect(await rig.deliver(refunded)).toBeUndefined();
    await expectAgreement(id);
    await rig.deliver(won);
    await rig.deliver(refunded);
    expect((await rig.entries(accountId)).map(([, tokens]) => tokens)).toEqual([
      TOKENS,
      -TOKENS,
      TOKENS,
      -152 * 500,
    ]);
    expect((await rig.payments.find(id))?.trouble).toBeNull();
    await expectAgreement(id);
  });

  test("of tokens that were spent takes what is left, and writes the rest off", async () => {
    const { accountId, id } = await paid("stripe");
    await spend(accountId, 450_000);
    await rig.deliver(rig.providers.dispute(id));
    expect(await rig.entries(accountId)).toEqual([
      ["topup", TOKENS],
      ["adjust", -450_000],
      ["chargeback", -50_000],
    ]);
    expect((await stateOf(id)).returns).toMatchObject([{ paid: 50_000, lost: 450_000, state: "done" }]);
    await expectAgreement(id);
    await rig.deliver(rig.providers.winDispute(id));
    expect((await rig.wallet(accountId)).paid).toBe(50_000);
    await expectAgreement(id);
  });

  test("takes credit that the payment had repaid, and never the trial", async () => {
    const accountId = await rig.account();
    const why = { actor: "test", note: "test", now: new Date(rig.nowMs) };
    await setCreditLimit(rig.database, accountId, 200_000, why);
    await rig.database.query("update wallet set credit = 0, held = 0 where account_id = $1", [accountId]);
    await rig.database.query(
      `insert into entry (account_id, seq, at, kind, credit, adjustments, balance_after, actor, note)
       select $1, 2, $2, 'adjust', -200000, 200000, 0, 'test', 'used'`,
      [accountId, why.now],
    );
    await rig.database.query("update wallet set seq = 2 where account_id = $1", [accountId]);
    const { id } = await rig.payments.create(accountId, { provider: "stripe", amountFen: FEN }, rig.author);
    await rig.deliver(rig.providers.pay(id));
    expect(await rig.wallet(accountId)).toMatchObject({ paid: 300_000, credit: 200_000 });
    await rig.deliver(rig.providers.dispute(id));
    expect(await rig.wallet(accountId)).toMatchObject({ paid: 0, credit: 0 });
    expect((await stateOf(id)).returns).toMatchObject([{ paid: 300_000, credit: 200_000, lost: 0 }]);
    await expectAgreement(id);
  });

  test("that overtakes a refund waits until the refund's end is known", async () => {
    const { id } = await paid("stripe");
    rig.providers.isDown = true;
    expect(await refund(id, 400)).toBeUndefined();
    rig.providers.isDown = false;
    const taken = rig.providers.dispute(id);
    rig.providers.isDown = true;
    expect(await rig.deliver(taken)).toBe("payment_refused");
    rig.providers.isDown = false;
    // Now the refund is asked for, and refused: nothing is left of the payment.
    expect(await rig.deliver(taken)).toBeUndefined();
    expect((await stateOf(id)).returns.map(({ kind, state }) => `${kind} ${state}`).sort()).toEqual([
      "chargeback done",
      "refund failed",
    ]);
    await expectAgreement(id);
  });

  test("freezes nothing if the settings say so", async () => {
    await using lenient = await PaymentRig.start({ freeze_on_chargeback: false });
    const accountId = await lenient.account();
    const wanted = { provider: "stripe", amountFen: FEN } as const;
    const { id } = await lenient.payments.create(accountId, wanted, lenient.author);
    await lenient.deliver(lenient.providers.pay(id));
    await lenient.deliver(lenient.providers.dispute(id));
    expect(await lenient.wallet(accountId)).toMatchObject({ paid: 0, frozen: false });
  });
});

test("a refund that comes back gives the tokens back, and older news of it changes nothing", async () => {
  for (const provider of ["stripe", "wechat"] as const) {
    const { accountId, id } = await paid(provider);
    rig.providers.refundState = "pending";
    await refund(id, 300);
    rig.providers.refundState = "done";
    const [one] = (await stateOf(id)).returns;
    const done = rig.providers.endRefund(id, one!.id, "done");
    const failed = rig.providers.endRefund(id, one!.id, "failed");
    await rig.deliver(failed);
    await rig.deliver(done);
    expect(await rig.entries(accountId)).toEqual([
      ["topup", TOKENS],
      ["refund", -150_000],
      ["refund", 150_000],
    ]);
    expect((await stateOf(id)).returns).toMatchObject([{ state: "failed" }]);
    await expectAgreement(id);
  }
});

test("a refund at the provider's own pages that is under way is not made a second time", async () => {
  for (const provider of ["stripe", "wechat"] as const) {
    const { id } = await paid(provider);
    rig.providers.refundState = "pending";
    await rig.deliver(rig.providers.refundOutside(id, 300));
    rig.providers.refundState = "done";
    await rig.ask(3_600);
    await rig.ask(3_600);
    expect(rig.providers.trades.get(id)!.refunds).toHaveLength(1);
    const { number } = rig.providers.trades.get(id)!.refunds[0]!;
    await rig.deliver(rig.providers.endRefund(id, number, "done"));
    expect((await stateOf(id)).returns).toMatchObject([{ state: "done", amountFen: 300 }]);
    await expectAgreement(id);
  }
});

test("a refund that came back unheard does not stand in the way of another one", async () => {
  const { id } = await paid("stripe");
  await refund(id, 900);
  const [one] = (await stateOf(id)).returns;
  rig.providers.endRefund(id, one!.id, "failed");
  rig.nowMs += 1;
  expect(await rig.deliver(rig.providers.refundOutside(id, 500))).toBeUndefined();
  expect(await stateOf(id)).toMatchObject({
    trouble: null,
    returns: [{ state: "failed" }, { amountFen: 500 }],
  });
  await expectAgreement(id);
});

describe("a bank transfer", () => {
  test("is credited when the operator confirms it, each number of the bank once", async () => {
    const { accountId, id, payment } = await begun("bank");
    expect(payment.reference).toMatch(/^DQ[2-9A-HJ-NP-Z]{10}$/);
    const confirm = (one: string, transaction: string, amountFen = FEN) =>
      codeOf(() => rig.payments.confirm(one, { transaction, amountFen }, rig.author));
    expect(await confirm(id, "ICBC 1", FEN - 1)).toBe("invalid_params");
    expect(await confirm(id, "ICBC 1")).toBeUndefined();
    expect(await confirm(id, "ICBC 2")).toBe("payment_state");
    expect(await confirm((await begun("bank")).id, "ICBC 1")).toBe("already_exists");
    expect(await confirm((await begun("stripe")).id, "ICBC 3")).toBe("invalid_params");
    expect(await rig.entries(accountId)).toEqual([["topup", TOKENS]]);
    expect(await refund(id, FEN)).toBeUndefined();
    expect((await rig.wallet(accountId)).paid).toBe(0);
  });

  test("expires after 30 days", async () => {
    const { id } = await begun("bank");
    await rig.ask(29 * 86_400);
    expect((await stateOf(id)).state).toBe("open");
    await rig.ask(86_400 + 1);
    expect((await stateOf(id)).state).toBe("expired");
  });

  test("that arrives after the account was closed is booked, told to the operator, and sent back", async () => {
    const { accountId, id } = await begun("bank");
    await rig.ask(31 * 86_400);
    const closing = { confirm: "payer", giveUpTokens: 0 };
    await inTransaction(rig.database, (transaction) =>
      closeAccount(transaction, accountId, closing, rig.author),
    );
    await rig.payments.confirm(id, { transaction: "ICBC 9", amountFen: FEN }, rig.author);
    const state = await stateOf(id);
    expect(state).toMatchObject({ state: "paid", trouble: { code: "account_closed" } });
    expect(await rig.wallet(accountId)).toMatchObject({ paid: TOKENS, frozen: true });
    expect(await refund(id, FEN)).toBeUndefined();
    expect((await rig.wallet(accountId)).paid).toBe(0);
    expect(await rig.brokenLaws()).toEqual([]);
  });
});

test("amounts, providers and the number of open payments are bounded", async () => {
  const accountId = await rig.account();
  const create = (provider: OnlineProvider, amountFen: number) =>
    codeOf(() => rig.payments.create(accountId, { provider, amountFen }, rig.author));
  expect(await create("stripe", 399)).toBe("invalid_params");
  expect(await create("alipay", 99)).toBe("invalid_params");
  expect(await create("wechat", 5_000_001)).toBe("invalid_params");
  for (let i = 0; i < 20; i++) expect(await create("alipay", 100 + i)).toBeUndefined();
  expect(await create("alipay", 100)).toBe("too_many");
});

test("in 20 random histories the money at the providers is the money in the ledger (10,000: npm run proof -- payments)", async () => {
  await using own = await PaymentRig.start();
  await commitWithoutDisk(own.database);
  await fc.assert(
    fc.asyncProperty(fc.array(paymentStep, { minLength: 20, maxLength: 50 }), (steps) =>
      playPayments(own, steps),
    ),
    { numRuns: 20, seed: 20_261_128, endOnFailure: true },
  );
  expect(await own.brokenLaws()).toEqual([]);
  const kinds = await own.database.query<{ kind: string }>("select distinct kind from entry");
  expect(kinds.rows.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(["topup", "refund", "chargeback"]),
  );
}, 120_000);
