import fc from "fast-check";
import { inTransaction } from "../src/database/transaction.ts";
import { charge } from "../src/ledger/hold.ts";
import { adjust, setCreditLimit } from "../src/ledger/movement.ts";
import { createOffer, listOffers, packageOfPayment, sweepPackages } from "../src/ledger/package.ts";
import { endAutoTopUp } from "../src/payments/auto-top-up.ts";
import { type PaymentFailpoint, paymentFailpoints } from "../src/payments/failpoint.ts";
import { type Notice, type OnlineProvider, onlineProviders } from "./payment-providers.ts";
import { codeOf, type PaymentRig } from "./payment-rig.ts";

const kinds = [
  ...Array<"begin">(4).fill("begin"),
  ...Array<"pay">(4).fill("pay"),
  ...Array<"deliver">(8).fill("deliver"),
  ...Array<"refund">(3).fill("refund"),
  ...Array<"ask">(2).fill("ask"),
  "close",
  "refund outside",
  "end refund",
  "dispute",
  "win",
  "spend",
  "credit",
  ...Array<"call">(2).fill("call"),
  ...Array<"charge">(3).fill("charge"),
  "allow",
  "days",
  "weather",
  "kill",
] as const;

const DAY_MS = 86_400_000;
/** What a call of the model costs. */
const CALL_TOKENS = 190_001;
/** What packages give for their price: a tenth more. */
const offers = [
  { id: "off_short", tokens: 1_100_000, priceFen: 2_000, days: 1 },
  { id: "off_long", tokens: 5_500_000, priceFen: 10_000, days: 30 },
] as const;
/** What the first account of a history allows: three charges a month. */
const allowed = { lowTokens: 500_000, amountFen: 2_000, mostFen: 6_000, newCard: false } as const;

/** Something that a customer, an operator, a provider or the weather does. `pick` and `size` choose the details. */
export interface PaymentStep {
  readonly kind: (typeof kinds)[number];
  readonly pick: number;
  readonly size: number;
}

export const paymentStep: fc.Arbitrary<PaymentStep> = fc.record({
  kind: fc.constantFrom(...kinds),
  pick: fc.nat({ max: 9_999 }),
  size: fc.nat({ max: 9_999 }),
});

/** One history: what was begun, and the notices that nobody has delivered yet. */
class History {
  readonly accounts: string[] = [];
  readonly ids: string[] = [];
  readonly notices: Notice[] = [];
  readonly rig: PaymentRig;

  constructor(rig: PaymentRig) {
    this.rig = rig;
  }

  /** A payment that was begun and that its provider knows. */
  known(pick: number) {
    const id = this.ids[pick % Math.max(1, this.ids.length)];
    return id === undefined ? undefined : this.rig.providers.trades.get(id);
  }

  deliver(notice: Notice): Promise<string | undefined> {
    return this.rig.deliver(notice.again?.() ?? notice);
  }

  /** What becomes of a trade: by a page of the provider, or of the charge of a card. */
  end(trade: { readonly id: string; readonly number: string }, state: "paid" | "closed"): Notice {
    const { providers } = this.rig;
    if (trade.number.startsWith("auto")) return providers.endCharge(trade.id, state, "card_declined");
    return state === "paid" ? providers.pay(trade.id) : providers.close(trade.id);
  }

  /** The first account allows charges of its card, again after they were stopped. */
  async allow(): Promise<void> {
    const { payments, author } = this.rig;
    expectOneOf(
      await codeOf(() => payments.allowAuto(this.accounts[0]!, allowed, author)),
      undefined,
      "payment_refused",
    );
  }

  /** Payments of the first account that nobody has made by hand are payments like any other. */
  async noteCharges(): Promise<void> {
    const found = await this.rig.database.query<{ id: string }>(
      "select id from payment where account_id = $1 and card is not null order by id",
      [this.accounts[0]!],
    );
    for (const { id } of found.rows) if (!this.ids.includes(id)) this.ids.push(id);
  }

  /** What can be refunded of a payment of a package: what is left of its price. Undefined if it bought none. */
  async leftOfPackage(paymentId: string): Promise<number | undefined> {
    const payment = await this.rig.payments.find(paymentId);
    if (!payment || payment.packageDays === null || payment.state !== "paid") return undefined;
    const found = await inTransaction(this.rig.database, (transaction) =>
      packageOfPayment(transaction, payment.accountId, paymentId),
    );
    const { left, tokens, priceTokens } = found!.package;
    return Math.max(1, Math.floor((left - (tokens - priceTokens)) / 500));
  }

  async step({ kind, pick, size }: PaymentStep): Promise<void> {
    const { rig } = this;
    const { providers } = rig;
    const trade = this.known(pick);
    rig.nowMs += 1 + size;
    switch (kind) {
      case "begin": {
        const provider = onlineProviders[pick % onlineProviders.length] as OnlineProvider;
        const accountId = this.accounts[size % this.accounts.length]!;
        const wanted =
          size % 3 === 0 ? { package: offers[pick % offers.length]!.id } : { amountFen: 400 + size };
        const code = await codeOf(async () => {
          const { id } = await rig.payments.create(accountId, { provider, ...wanted }, rig.author);
          this.ids.push(id);
        });
        expectOneOf(code, undefined, "payment_refused", "too_many", "killed");
        return;
      }
      case "pay":
        if (trade?.state === "open") this.notices.push(this.end(trade, "paid"));
        return;
      case "close":
        if (trade?.state === "open") this.notices.push(this.end(trade, "closed"));
        return;
      case "deliver": {
        if (this.notices.length === 0) return;
        const place = pick % this.notices.length;
        // A third of what is delivered comes again.
        const [notice] = size % 3 === 0 ? [this.notices[place]!] : this.notices.splice(place, 1);
        const code = await this.deliver(notice!);
        expectOneOf(code, undefined, "payment_refused", "killed");
        if (code !== undefined) this.notices.push(notice!);
        return;
      }
      case "refund": {
        if (trade === undefined) return;
        const amountFen = (await this.leftOfPackage(trade.id)) ?? 1 + (size % trade.amountFen);
        const refund = { amountFen, reason: "model" };
        const code = await codeOf(() => rig.payments.refund(trade.id, refund, rig.author));
        expectOneOf(code, undefined, "payment_state", "invalid_params", "payment_refused", "killed");
        return;
      }
      case "refund outside": {
        if (trade?.state !== "paid") return;
        const left = trade.amountFen - trade.disputeFen - sumOf(trade.refunds);
        if (left > 0) this.notices.push(providers.refundOutside(trade.id, 1 + (size % left)));
        return;
      }
      case "end refund": {
        const pending = trade?.refunds.find(({ state }) => state === "pending");
        const bounced = trade?.refunds.find(({ state, id }) => state === "done" && id.startsWith("ret_"));
        const refund = pending ?? bounced;
        if (!trade || !refund) return;
        // Alipay's refunds do not come back.
        const state = size % 2 === 0 && trade.provider !== "alipay" ? "failed" : "done";
        this.notices.push(providers.endRefund(trade.id, refund.id, state));
        return;
      }
      case "dispute":
        if (trade?.provider === "stripe" && trade.state === "paid" && !trade.wasDisputed)
          this.notices.push(providers.dispute(trade.id));
        return;
      case "win":
        if (trade && trade.disputeFen > 0) this.notices.push(providers.winDispute(trade.id));
        return;
      case "spend": {
        const accountId = this.accounts[pick % this.accounts.length]!;
        const { paid } = await rig.wallet(accountId);
        const why = { ...rig.author, note: "spent" };
        if (paid > 0) await adjust(rig.database, accountId, -(1 + (size % paid)), why);
        return;
      }
      case "credit": {
        const accountId = this.accounts[pick % this.accounts.length]!;
        await setCreditLimit(rig.database, accountId, size * 100, { ...rig.author, note: "line" });
        return;
      }
      case "call": {
        const accountId = this.accounts[pick % this.accounts.length]!;
        const request = {
          requestId: `req_${rig.nowMs}_${pick}`,
          accountId,
          keyId: "key_model",
          operation: "legal_laws",
          tokens: CALL_TOKENS,
          priceVersion: 1_000,
          cached: false,
          instanceId: 0,
          now: new Date(rig.nowMs),
          deadline: new Date(rig.nowMs + DAY_MS),
        };
        const code = await codeOf(() => charge(rig.database, request));
        expectOneOf(code, undefined, "insufficient_balance", "account_frozen");
        return;
      }
      case "charge":
        await rig.payments.chargeDue().catch(ignoreKill);
        await this.noteCharges();
        return;
      case "allow":
        await this.allow();
        return;
      case "days":
        rig.nowMs += (1 + (pick % 3)) * DAY_MS;
        await sweepPackages(rig.database, new Date(rig.nowMs));
        return;
      case "ask":
        await rig.ask(size % 4_000).catch(ignoreKill);
        return;
      case "weather":
        providers.isDown = pick % 4 === 0;
        providers.acceptsKeys = pick % 5 !== 4;
        providers.losesAnswers = pick % 4 === 1;
        providers.refusesRefunds = pick % 8 === 2;
        providers.refundState = pick % 3 === 0 ? "pending" : "done";
        providers.charges = (["made", "slow", "card_declined", "authentication_required"] as const)[
          size % 4
        ]!;
        return;
      case "kill":
        rig.killAt = paymentFailpoints[pick % paymentFailpoints.length] as PaymentFailpoint;
        return;
    }
  }

  /** The weather clears, everything is delivered in some order, and everything is asked for. */
  async settle(): Promise<void> {
    const { rig } = this;
    const { providers } = rig;
    Object.assign(providers, {
      isDown: false,
      acceptsKeys: true,
      losesAnswers: false,
      refusesRefunds: false,
      refundState: "done",
      charges: "made",
    });
    rig.killAt = undefined;
    await this.noteCharges();
    for (const trade of providers.trades.values())
      if (trade.state === "open" && trade.number.startsWith("auto"))
        this.notices.push(this.end(trade, trade.number.endsWith("1") ? "closed" : "paid"));
    for (const trade of providers.trades.values())
      for (const refund of trade.refunds)
        if (refund.state === "pending") this.notices.push(providers.endRefund(trade.id, refund.id, "done"));
    for (let round = 0; round < 20; round++) {
      for (const notice of this.notices.splice(0).reverse())
        if ((await this.deliver(notice)) !== undefined) this.notices.push(notice);
      await rig.ask(1_801);
      const open = await rig.database.query(
        "select from payment_return where state = 'pending' and kind = 'refund'",
      );
      if (this.notices.length === 0 && open.rowCount === 0) break;
    }
    if (this.notices.length > 0) throw new Error(`never accepted: ${JSON.stringify(this.notices)}`);
    // What was paid while everything was down is found by asking.
    await rig.ask(1_801);
    await rig.ask(1_801);
    await sweepPackages(rig.database, new Date(rig.nowMs));
  }

  async check(): Promise<void> {
    const { rig } = this;
    for (const trade of rig.providers.trades.values()) {
      const returns = (await rig.payments.find(trade.id))?.returns ?? [];
      for (const { id, number, state } of trade.refunds) {
        const known = returns.filter((one) => one.id === id || [id, number].includes(one.providerId ?? ""));
        if (known.at(-1)?.state !== state)
          throw new Error(`${trade.id}: the refund ${id} is ${state}, here ${JSON.stringify(known)}`);
      }
    }
    for (const id of this.ids) {
      const [ledger, provider] = [await rig.ledgerFen(id), rig.providers.balanceFen(id)];
      if (ledger !== provider)
        throw new Error(
          `${id}: ${provider} fen are at the provider, ${ledger} in the ledger: ${JSON.stringify([rig.providers.trades.get(id), await rig.payments.find(id)])}`,
        );
    }
    await this.checkCharges();
  }

  /** Each charge was made once, none is under way, and no month has more than the customer allowed. */
  async checkCharges(): Promise<void> {
    const { database, providers, author } = this.rig;
    if (providers.chargedTwice > 0) throw new Error("a card was charged twice for one payment");
    const found = await database.query<{ id: string; month: string }>(
      `select id, to_char(created_at at time zone 'Asia/Shanghai', 'YYYY-MM') as month from payment
       where account_id = $1 and card is not null`,
      [this.accounts[0]!],
    );
    const charged: Record<string, number> = {};
    for (const { id, month } of found.rows) {
      const trade = providers.trades.get(id);
      if (trade?.state === "paid") charged[month] = (charged[month] ?? 0) + trade.amountFen;
    }
    if (Object.values(charged).some((fen) => fen > allowed.mostFen))
      throw new Error(`more was charged in a month than was allowed: ${JSON.stringify(charged)}`);
    const open = await database.query(
      "select from auto_top_up where account_id = $1 and attempt is not null",
      [this.accounts[0]!],
    );
    if (open.rowCount !== 0) throw new Error("a charge is still under way");
    // So that nobody charges the account in the next history.
    await inTransaction(database, (transaction) => endAutoTopUp(transaction, this.accounts[0]!, author));
  }
}

/** Plays a history on the service and the providers, and throws unless the money of both agrees in the end. */
export async function playPayments(rig: PaymentRig, steps: readonly PaymentStep[]): Promise<void> {
  rig.providers.trades.clear();
  const history = new History(rig);
  for (let i = 0; i < 3; i++) history.accounts.push(await rig.account());
  if ((await listOffers(rig.database)).length === 0) {
    for (const offer of offers) await createOffer(rig.database, { ...offer, createdAt: new Date(rig.nowMs) });
    await rig.database.query("insert into price values ('legal_laws', 1000, $1, 1, 'epoch', 'test')", [
      CALL_TOKENS,
    ]);
  }
  await history.allow();
  const { setupUrl } = (await rig.payments.autoTopUp(history.accounts[0]!))!;
  await history.deliver(rig.providers.saveCard(setupUrl!));
  for (const step of steps) await history.step(step);
  await history.settle();
  await history.check();
}

function sumOf(refunds: readonly { readonly amountFen: number; readonly state: string }[]): number {
  return refunds.reduce((sum, { amountFen, state }) => (state === "failed" ? sum : sum + amountFen), 0);
}

function expectOneOf(code: string | undefined, ...allowed: readonly (string | undefined)[]): void {
  if (!allowed.includes(code)) throw new Error(`unexpected: ${code}`);
}

function ignoreKill(error: Error): void {
  if (error.constructor.name !== "Killed") throw error;
}
