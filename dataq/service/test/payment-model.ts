import fc from "fast-check";
import { adjust, setCreditLimit } from "../src/ledger/movement.ts";
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
  "weather",
  "kill",
] as const;

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

  async step({ kind, pick, size }: PaymentStep): Promise<void> {
    const { rig } = this;
    const { providers } = rig;
    const trade = this.known(pick);
    rig.nowMs += 1 + size;
    switch (kind) {
      case "begin": {
        const provider = onlineProviders[pick % onlineProviders.length] as OnlineProvider;
        const accountId = this.accounts[size % this.accounts.length]!;
        const code = await codeOf(async () => {
          const { id } = await rig.payments.create(
            accountId,
            { provider, amountFen: 400 + size },
            rig.author,
          );
          this.ids.push(id);
        });
        expectOneOf(code, undefined, "payment_refused", "too_many", "killed");
        return;
      }
      case "pay":
        if (trade?.state === "open") this.notices.push(providers.pay(trade.id));
        return;
      case "close":
        if (trade?.state === "open") this.notices.push(providers.close(trade.id));
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
        const amountFen = 1 + (size % trade.amountFen);
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
      case "ask":
        await rig.ask(size % 4_000).catch(ignoreKill);
        return;
      case "weather":
        providers.isDown = pick % 4 === 0;
        providers.losesAnswers = pick % 4 === 1;
        providers.refusesRefunds = pick % 8 === 2;
        providers.refundState = pick % 3 === 0 ? "pending" : "done";
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
      losesAnswers: false,
      refusesRefunds: false,
      refundState: "done",
    });
    rig.killAt = undefined;
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
  }
}

/** Plays a history on the service and the providers, and throws unless the money of both agrees in the end. */
export async function playPayments(rig: PaymentRig, steps: readonly PaymentStep[]): Promise<void> {
  rig.providers.trades.clear();
  const history = new History(rig);
  for (let i = 0; i < 3; i++) history.accounts.push(await rig.account());
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
