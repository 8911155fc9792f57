import { randomInt } from "node:crypto";
import { Failure, invalid, tokensPerCny } from "@dataq/contract";
import { type PaymentProvider, paymentProviders } from "@dataq/contract/wire";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { inTransaction } from "../database/transaction.ts";
import { listOffers, type Offer, plainTokens } from "../ledger/package.ts";
import { Admissions } from "./admission.ts";
import { Alipay } from "./alipay/adapter.ts";
import {
  type AutoTopUp,
  allowAutoTopUp,
  beginCharge,
  findAutoTopUp,
  findLow,
  noteCard,
  noteFailed,
  noteSetup,
} from "./auto-top-up.ts";
import { BankTransfer } from "./bank/adapter.ts";
import type { PaymentFailpoint } from "./failpoint.ts";
import { bookNews, endReturn, type NewsRules, startReturn } from "./news.ts";
import {
  findPayment,
  listPayments,
  lockPayment,
  type Payment,
  type PaymentWithReturns,
  paidBillOf,
  returnedFen,
  returnsOf,
  wrongState,
} from "./payment.ts";
import {
  type News,
  NotGenuine,
  NotLetIn,
  type OwnAddresses,
  type Provider,
  type Received,
  type Refund,
  type RefundState,
  Refused,
  type TellAdmission,
  yuanOf,
} from "./provider.ts";
import type { PaymentSettings } from "./settings.ts";
import { Stripe } from "./stripe/adapter.ts";
import { WechatPay } from "./wechat/adapter.ts";

export interface PaymentParts {
  readonly database: Database;
  readonly settings: PaymentSettings;
  readonly clock: () => Date;
  /** The address where people and providers reach this service. */
  readonly publicUrl: () => string;
  readonly onWarning: (text: string, error: Error) => void;
  readonly failpoint: (at: PaymentFailpoint) => void;
}

/** Tokens of one fen. */
const TOKENS_PER_FEN = tokensPerCny / 100;
/** An account may have this many payments that nobody has paid yet. */
const MOST_OPEN = 20;
const LIFE_MS = { online: 2 * 3_600_000, bank: 30 * 86_400_000 } as const;
/** A provider is asked after 5 s, then after twice as long each time, at least twice an hour. */
const FIRST_ASK_S = 5;
const LONGEST_ASK_S = 1_800;
/** How long after its end a payment is still asked for, in case the provider could not be reached. */
const ASK_AFTER_END_MS = 24 * 3_600_000;

/** Payments of customers: begun here, paid at a provider, credited in the ledger. */
export class Payments {
  readonly #parts: PaymentParts;
  readonly #providers: ReadonlyMap<string, Provider>;

  constructor(parts: PaymentParts) {
    this.#parts = parts;
    const { stripe, alipay, wechat, bank } = parts.settings;
    const admissions = new Admissions(parts.database, parts.clock, parts.onWarning);
    const tell =
      (name: PaymentProvider): TellAdmission =>
      (said, right) =>
        admissions.note(name, said, right);
    const on: readonly (Provider | undefined)[] = [
      stripe && new Stripe(stripe, tell("stripe")),
      alipay && new Alipay(alipay, parts.clock, tell("alipay")),
      wechat && new WechatPay(wechat, parts.clock, tell("wechat")),
      bank && new BankTransfer(),
    ];
    this.#providers = new Map(on.flatMap((provider) => (provider ? [[provider.name, provider]] : [])));
  }

  get settings(): PaymentSettings {
    return this.#parts.settings;
  }

  /** The providers that are on, each with the smallest amount that may be paid by it. */
  get options(): readonly {
    readonly name: PaymentProvider;
    readonly leastFen: number;
    readonly isAutomatic: boolean;
  }[] {
    return paymentProviders.flatMap((name) => {
      const provider = this.#providers.get(name);
      return provider
        ? [{ name, leastFen: this.#leastOf(provider), isAutomatic: provider.charge !== undefined }]
        : [];
    });
  }

  #leastOf({ leastFen }: Provider): number {
    return Math.max(leastFen, Math.round(this.settings.least_cny * 100));
  }

  /**
   * Begins a payment: the amount is bound to the account here, before the provider hears of it. Throws `invalid_params`,
   * `too_many`, and `payment_refused` if the provider does not take it.
   */
  async create(
    accountId: string,
    asked: {
      readonly provider: PaymentProvider;
      /** The amount, or the package that it buys. */
      readonly amountFen?: number | undefined;
      readonly package?: string | undefined;
    },
    author: Author,
  ): Promise<PaymentWithReturns> {
    const { database, failpoint } = this.#parts;
    const provider = this.#wantedProvider(asked.provider);
    const offer = asked.package === undefined ? undefined : await this.#wantedOffer(asked.package);
    const wanted = { provider: asked.provider, amountFen: offer?.priceFen ?? asked.amountFen ?? 0 };
    this.#assertAmount(provider, wanted.amountFen, offer && "package");
    const isBank = provider.name === "bank";
    const id = makeIdentifier("pay", author.now);
    const expiresAt = new Date(author.now.getTime() + LIFE_MS[isBank ? "bank" : "online"]);
    const bill = { id, amountFen: wanted.amountFen, expiresAt, providerId: null };
    await inTransaction(database, async (transaction) => {
      // Locks the account, so that simultaneous requests cannot exceed the limit together.
      await transaction.query("select from account where id = $1 for update", [accountId]);
      const open = await transaction.query(
        "select from payment where account_id = $1 and state = 'open' and expires_at > $2",
        [accountId, author.now],
      );
      if (open.rowCount! >= MOST_OPEN)
        throw new Failure("too_many", { limit: MOST_OPEN, what: "payments that are not paid" });
      await transaction.query(
        `insert into payment (id, account_id, provider, amount_fen, tokens, reference, actor, created_at, expires_at, ask_at, package_offer, package_days)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
        [
          id,
          accountId,
          provider.name,
          wanted.amountFen,
          offer?.tokens ?? wanted.amountFen * TOKENS_PER_FEN,
          isBank ? makeReference() : null,
          author.actor,
          author.now,
          expiresAt,
          isBank ? expiresAt : new Date(author.now.getTime() + FIRST_ASK_S * 1_000),
          offer?.id ?? null,
          offer?.days ?? null,
        ],
      );
      await writeAudit(transaction, author, "payment.create", id, null, {
        account: accountId,
        ...wanted,
        ...(offer && { package: offer.id }),
      });
    });
    failpoint("before_create_payment");
    try {
      const way = await provider.create(bill, this.#addresses(provider));
      failpoint("after_create_payment");
      await database.query(
        `update payment set url = $2, qr = $3, provider_id = coalesce(provider_id, $4) where id = $1`,
        [id, way.url ?? null, way.qr ?? null, way.providerId ?? null],
      );
    } catch (error) {
      // Only what certainly cannot be paid has failed; otherwise the provider is asked.
      if (error instanceof Refused || error instanceof NotLetIn)
        await database.query(
          "update payment set state = 'failed', ask_at = null where id = $1 and state = 'open'",
          [id],
        );
      this.#parts.onWarning(`${provider.name} did not take a payment`, error as Error);
      throw new Failure("payment_refused", named(provider), error);
    }
    return (await this.find(id))!;
  }

  async find(id: string, accountId?: string): Promise<PaymentWithReturns | undefined> {
    return (await listPayments(this.#parts.database, { id, accountId, limit: 1 }))[0];
  }

  /**
   * Verifies a notification of a provider and books what it says. A repeated one does nothing. Throws
   * `invalid_notification`, and `payment_refused` if the provider must be asked and does not answer.
   */
  async hear(name: string, received: Omit<Received, "now">): Promise<void> {
    const provider = this.#providers.get(name);
    if (!provider) throw new Failure("not_found", { what: `The provider ${name.slice(0, 40)}` });
    const now = this.#parts.clock();
    const notification = await provider.read({ ...received, now }).catch((error: unknown) => {
      if (!(error instanceof NotGenuine)) return refusedBy(provider)(error);
      const { message: reason, zh } = error;
      const said = named(provider);
      throw new Failure("invalid_notification", { ...said, reason, zh: { ...said.zh, reason: zh } }, error);
    });
    const { database } = this.#parts;
    const seen = await database.query("select from payment_notification where provider = $1 and id = $2", [
      provider.name,
      notification.id,
    ]);
    if (seen.rowCount !== 0) return;
    if (notification.setupId !== undefined) await this.#readCard(provider, notification.setupId);
    for (const news of notification.news) await this.#book(provider, news, "notification");
    await database.query("insert into payment_notification values ($1, $2, $3) on conflict do nothing", [
      provider.name,
      notification.id,
      now,
    ]);
  }

  async #book(provider: Provider, news: News, heardBy: NewsRules["heardBy"]): Promise<void> {
    let booked = await this.#bookOnce(provider, news, heardBy);
    if (booked === "unpaid") {
      const payment = await findPayment(this.#parts.database, news.paymentId);
      const first = payment && (await provider.ask(payment).catch(refusedBy(provider)));
      if (first) await this.#bookOnce(provider, first, "question");
      booked = await this.#bookOnce(provider, news, heardBy);
    }
    if (booked === "early") {
      const returns = await returnsOf(this.#parts.database, news.paymentId);
      for (const { id, isOwn, state } of returns)
        if (isOwn && state !== "failed") await this.#askReturn({ id });
      for (const { kind, state, providerId } of returns) {
        if (kind !== "chargeback" || state !== "done" || providerId === null) continue;
        const now = await provider.askChargeback?.(news.paymentId, providerId).catch(refusedBy(provider));
        if (now) await this.#bookOnce(provider, now, "question");
      }
      booked = await this.#bookOnce(provider, news, heardBy, true);
    }
    // The provider sends it again later.
    if (booked === "unpaid" || booked === "early")
      throw new Failure(
        "payment_refused",
        named(provider),
        new Error(`the return of the payment ${news.paymentId} does not fit yet: ${booked}`),
      );
  }

  async #bookOnce(provider: Provider, news: News, heardBy: NewsRules["heardBy"], capsExcess = false) {
    const { database, clock, failpoint, settings } = this.#parts;
    const booked = await inTransaction(database, async (transaction) => {
      const payment = await findPayment(transaction, news.paymentId);
      // A provider speaks of its own payments only.
      if (payment?.provider !== provider.name) return "unknown";
      const author = { actor: "system", now: clock() };
      const rules = { heardBy, capsExcess, freezeOnChargeback: settings.freeze_on_chargeback };
      const done = await bookNews(transaction, news, author, rules);
      failpoint("before_credit_payment");
      return done;
    });
    failpoint("after_credit_payment");
    return booked;
  }

  /** Asks providers for payments and refunds whose outcome is not known, each when it is due. */
  async askDue(): Promise<void> {
    for (const payment of await this.#takeDue("payment")) await this.#askPayment(payment);
    for (const due of await this.#takeDue("payment_return")) await this.#askReturn(due);
  }

  /** Takes what is due, and says when it is due next, so that several services do not ask for the same at once. */
  async #takeDue(table: "payment" | "payment_return"): Promise<{ id: string; ended: boolean }[]> {
    const { database, clock } = this.#parts;
    const end = table === "payment" ? "expires_at" : "created_at";
    const found = await database.query<{ id: string; ended: boolean }>(
      `update ${table} set asked = asked + 1,
         ask_at = $1::timestamptz + least($2 * 2 ^ least(asked, 20), $3) * interval '1 second'
       where id in (select id from ${table} where ask_at <= $1 order by ask_at limit 20 for update skip locked)
       returning id, ${end} < $1::timestamptz - $4 * interval '1 millisecond' as ended`,
      [clock(), FIRST_ASK_S, LONGEST_ASK_S, ASK_AFTER_END_MS],
    );
    return found.rows;
  }

  /** The provider that can charge a saved card. */
  get #automatic(): Provider | undefined {
    return [...this.#providers.values()].find(({ charge }) => charge !== undefined);
  }

  /** What an account has allowed. A card that was saved meanwhile is asked for. */
  async autoTopUp(accountId: string): Promise<AutoTopUp | undefined> {
    const { database, onWarning } = this.#parts;
    const found = await findAutoTopUp(database, accountId);
    if (!found?.setupId || !this.#automatic) return found;
    await this.#readCard(this.#automatic, found.setupId).catch((error: Error) =>
      onWarning("could not ask for a saved card", error),
    );
    return findAutoTopUp(database, accountId);
  }

  async #readCard(provider: Provider, setupId: string): Promise<void> {
    const card = await provider.readCard?.(setupId).catch(refusedBy(provider));
    if (card) await noteCard(this.#parts.database, setupId, card);
  }

  /** Allows charges, and begins to save a card if there is none. Throws `provider_off`, `invalid_params`, `payment_refused`. */
  async allowAuto(
    accountId: string,
    wanted: {
      readonly lowTokens: number;
      readonly amountFen: number;
      readonly mostFen: number;
      readonly newCard: boolean;
    },
    author: Author,
  ): Promise<void> {
    const provider = this.#automatic;
    if (!provider) throw new Failure("provider_off", { provider: "a saved card" });
    this.#assertAmount(provider, wanted.amountFen);
    if (wanted.mostFen < wanted.amountFen)
      throw invalid(
        "most_fen",
        "range",
        "most_fen must not be less than amount_fen",
        `send at least ${wanted.amountFen}`,
        `至少 ${wanted.amountFen}`,
      );
    const { database } = this.#parts;
    const { newCard, ...limits } = wanted;
    const allowed = await inTransaction(database, (transaction) =>
      allowAutoTopUp(transaction, accountId, limits, author),
    );
    if (allowed.method !== null && !newCard) return;
    const back = `${this.#parts.publicUrl()}/console/top-up`;
    await noteSetup(
      database,
      accountId,
      await provider.saveCard!(accountId, back).catch(refusedBy(provider)),
    );
  }

  /** Charges the cards of accounts whose balance is low, as long as `mayCharge` says so before each. */
  async chargeDue(mayCharge: () => Promise<boolean> = async () => true): Promise<void> {
    const { database, clock, failpoint, onWarning } = this.#parts;
    if (!this.#automatic) return;
    for (const accountId of await findLow(database, clock())) {
      if (!(await mayCharge())) return;
      const id = await inTransaction(database, (transaction) =>
        beginCharge(transaction, accountId, TOKENS_PER_FEN, clock()),
      );
      if (id === undefined) continue;
      failpoint("before_charge");
      await this.#charge((await findPayment(database, id))!).catch((error: Error) =>
        onWarning(`could not charge for the payment ${id}`, error),
      );
    }
  }

  /** Charges the card of a payment, or asks what became of it. Any other error than a refusal leaves it open. */
  async #charge(payment: Payment): Promise<void> {
    const { failpoint, onWarning } = this.#parts;
    const provider = this.#providers.get(payment.provider);
    if (!provider?.charge || payment.card === null) return;
    let news: News | undefined;
    try {
      news = await provider.charge(payment, payment.card);
      failpoint("after_charge");
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      onWarning(`${provider.name} did not charge for the payment ${payment.id}`, error);
      return this.#endCharge(payment, "failed", error.code);
    }
    if (news) await this.#book(provider, news, "question");
  }

  /** Asks what became of a charge that is too old to be made: the next one may have begun. */
  async #askCharge(payment: Payment, ended: boolean): Promise<void> {
    const provider = this.#providers.get(payment.provider);
    if (!provider?.askCharge || payment.card === null) return;
    const found = await provider.askCharge(payment, payment.card);
    if (found !== "none" && found !== undefined) await this.#book(provider, found, "question");
    // A request to charge that is this old does not arrive any more.
    else await this.#endCharge(payment, found === "none" && ended ? "failed" : "expired", "no_answer");
  }

  /**
   * Ends a charge so that the next one may begin. One that expires is asked for until the provider says what became of it.
   */
  async #endCharge(payment: Payment, state: "failed" | "expired", reason?: string): Promise<void> {
    const { database, clock } = this.#parts;
    await inTransaction(database, async (transaction) => {
      await transaction.query(
        `update payment set state = $2, ask_at = case when $2 = 'expired' then ask_at end
         where id = $1 and state in ('open', 'expired')`,
        [payment.id, state],
      );
      await noteFailed(transaction, payment, reason, clock());
    });
  }

  async #askPayment({ id, ended }: { readonly id: string; readonly ended: boolean }): Promise<void> {
    const { database, clock, onWarning } = this.#parts;
    const payment = (await findPayment(database, id))!;
    const provider = this.#providers.get(payment.provider);
    if (payment.state !== "open" && payment.state !== "expired") return;
    const isCard = payment.card !== null;
    const isLate = payment.expiresAt <= clock();
    try {
      if (isCard) return await (isLate ? this.#askCharge(payment, ended) : this.#charge(payment));
      const news = await provider?.ask(payment);
      if (news) await this.#book(provider!, news, "question");
      // The provider has said that nobody paid, after the last moment to pay.
      else if (provider && isLate && (provider.name === "bank" || payment.providerId === null || ended))
        await this.#close(id);
    } catch (error) {
      onWarning(`could not ask for the payment ${id}`, error as Error);
      if (!ended) return;
      // A charge that nobody can say anything of must not keep the next one from beginning.
      if (isCard) await this.#endCharge(payment, "expired", "no_answer");
      // Who did not answer may still have the money, and is asked again.
      else await this.#close(id, !(error instanceof Refused));
    }
  }

  /** Nobody can pay it any more. Unless the provider has said that nobody did, it is still asked. */
  async #close(id: string, isAsked = false): Promise<void> {
    await this.#parts.database.query(
      `update payment set state = 'expired', ask_at = case when $2 then ask_at end
       where id = $1 and state in ('open', 'expired')`,
      [id, isAsked],
    );
  }

  async #askReturn({ id }: { readonly id: string }): Promise<void> {
    const { database, onWarning } = this.#parts;
    const found = await database.query<Refund & { paymentId: string; kind: string; state: string }>(
      `select id, payment_id as "paymentId", kind, state, amount_fen as "amountFen", reason from payment_return where id = $1 and own`,
      [id],
    );
    const refund = found.rows[0];
    if (refund?.kind !== "refund" || refund.state === "failed") return;
    const payment = (await findPayment(database, refund.paymentId))!;
    const provider = this.#providers.get(payment.provider);
    if (!provider) return;
    try {
      await this.#storeReturn(
        payment,
        id,
        await provider.askRefund(paidBillOf(payment), refund, this.#addresses(provider)),
      );
    } catch (error) {
      onWarning(`could not ask for the refund ${id}`, error as Error);
      if (error instanceof Refused)
        await this.#storeReturn(payment, id, { state: "failed", providerId: null });
    }
  }

  /** Credits a bank transfer that the operator has seen. Throws `payment_state`, `invalid_params`, `already_exists`. */
  async confirm(
    id: string,
    seen: { readonly transaction: string; readonly amountFen: number },
    author: Author,
  ): Promise<PaymentWithReturns> {
    const { database } = this.#parts;
    await inTransaction(database, async (transaction) => {
      const payment = await lockPayment(transaction, id);
      if (!payment) throw new Failure("not_found", { what: `The payment ${id.slice(0, 64)}` });
      if (payment.provider !== "bank")
        throw invalid(
          "id",
          "choice",
          "only bank transfers are confirmed by hand",
          "wait for the provider",
          "其他付款由支付平台确认",
        );
      if (payment.state === "paid") throw wrongState(payment.state);
      if (payment.amountFen !== seen.amountFen)
        throw invalid(
          "amount_fen",
          "value",
          `amount_fen is not that of the payment, ${payment.amountFen}`,
          "return the transfer, or record what arrived with POST /admin/v1/accounts/{id}/topups",
          `这笔付款应为 ${payment.amountFen} 分；请退回转账，或用 POST /admin/v1/accounts/{id}/topups 按实收入账`,
        );
      const used = await transaction.query(
        "select from payment where provider = 'bank' and transaction = $1 and id <> $2",
        [seen.transaction, id],
      );
      if (used.rowCount !== 0)
        throw new Failure("already_exists", { what: `A payment by the transfer ${seen.transaction}` });
      const news = { kind: "paid", paymentId: id, currency: "CNY", ...seen } as const;
      await bookNews(transaction, news, author, {
        heardBy: "operator",
        freezeOnChargeback: false,
        capsExcess: false,
      });
      await writeAudit(transaction, author, "payment.confirm", id, null, seen);
    });
    return (await this.find(id))!;
  }

  /**
   * Sends money back. The tokens are taken first, so that they cannot be spent meanwhile; if the provider refuses, they
   * come back. Throws `payment_state`, `invalid_params` and `payment_refused`.
   */
  async refund(
    id: string,
    wanted: {
      readonly amountFen: number;
      readonly reason: string;
      readonly transaction?: string | undefined;
    },
    author: Author,
  ): Promise<PaymentWithReturns> {
    const { database, failpoint } = this.#parts;
    const found = await findPayment(database, id);
    if (!found) throw new Failure("not_found", { what: `The payment ${id.slice(0, 64)}` });
    const provider = this.#wantedProvider(found.provider);
    const [payment, started] = await inTransaction(database, async (transaction) => {
      const locked = (await lockPayment(transaction, id))!;
      if (locked.state !== "paid") throw wrongState(locked.state);
      const returns = await returnsOf(transaction, id);
      const { amountFen, reason } = wanted;
      const left = locked.amountFen - returnedFen(returns);
      if (amountFen > left) throw tooMuch(left, "of the payment", "这笔付款");
      const made = await startReturn(
        transaction,
        locked,
        returns,
        { kind: "refund", amountFen, reason, isForced: false, isOwn: true },
        author,
      );
      if (made) return [locked, made] as const;
      const paid = await transaction.query<{ paid: number }>(
        "select paid from wallet where account_id = $1",
        [locked.accountId],
      );
      const plain = (await plainTokens(transaction, locked.accountId)) ?? paid.rows[0]?.paid ?? 0;
      const unspent = Math.floor(plain / TOKENS_PER_FEN);
      throw tooMuch(unspent, "of the account's paid tokens", "账户的付费点数");
    });
    failpoint("before_return_payment");
    let state: RefundState;
    try {
      const asked = await provider.refund(paidBillOf(payment), started, this.#addresses(provider));
      // Of a bank transfer, only the operator knows the number.
      state = { ...asked, providerId: asked.providerId ?? wanted.transaction ?? null };
      failpoint("after_return_payment");
    } catch (error) {
      this.#parts.onWarning(`${provider.name} did not take the refund ${started.id}`, error as Error);
      // Nobody knows whether it was made unless the provider said no; the sweeper asks.
      if (!(error instanceof Refused || error instanceof NotLetIn)) return (await this.find(id))!;
      await this.#storeReturn(payment, started.id, { state: "failed", providerId: null });
      throw new Failure("payment_refused", named(provider), error);
    }
    await this.#storeReturn(payment, started.id, state);
    return (await this.find(id))!;
  }

  async #storeReturn({ id }: Pick<Payment, "id">, returnId: string, state: RefundState): Promise<void> {
    const { database, clock, failpoint } = this.#parts;
    await inTransaction(database, async (transaction) => {
      const payment = (await lockPayment(transaction, id))!;
      const known = (await returnsOf(transaction, id)).find((one) => one.id === returnId)!;
      await endReturn(transaction, payment, known, state, { actor: "system", now: clock() });
      failpoint("before_return_stored");
    });
  }

  #wantedProvider(name: string): Provider {
    const provider = this.#providers.get(name);
    if (provider) return provider;
    const zh = shownNames[name as Provider["name"]]?.[1] ?? name;
    throw new Failure("provider_off", { provider: name, zh: { provider: zh } });
  }

  async #wantedOffer(id: string): Promise<Offer> {
    const offer = (await listOffers(this.#parts.database)).find((one) => one.id === id);
    if (!offer) throw new Failure("not_found", { what: `The package ${id.slice(0, 64)}` });
    return offer;
  }

  #assertAmount(provider: Provider, amountFen: number, field = "amount_fen"): void {
    const least = this.#leastOf(provider);
    const most = Math.round(this.settings.most_cny * 100);
    if (amountFen >= least && amountFen <= most) return;
    if (field === "package")
      throw invalid(
        field,
        "range",
        `the package costs ${yuanOf(amountFen)} CNY, and ${provider.name} takes ${yuanOf(least)} to ${yuanOf(most)}`,
        "choose another provider or package",
        `该套餐价格为 ${yuanOf(amountFen)} 元，此付款方式限 ${yuanOf(least)} 到 ${yuanOf(most)} 元，请换付款方式或套餐`,
      );
    throw invalid(
      field,
      "range",
      `amount_fen must be from ${least} to ${most} for ${provider.name}`,
      `send ${yuanOf(least)} to ${yuanOf(most)} CNY in fen`,
      `请发送 ${least} 到 ${most} 分`,
    );
  }

  #addresses({ name }: Provider): OwnAddresses {
    const url = this.#parts.publicUrl();
    return {
      back: (id) => `${url}/console/top-up?payment=${id}`,
      notify: `${url}/v1/payments/${name}/notify`,
    };
  }
}

function tooMuch(left: number, what: string, whatZh: string): Failure {
  return invalid(
    "amount_fen",
    "range",
    `amount_fen must not exceed what is left ${what}, ${left}`,
    left > 0 ? `send at most ${left}` : "nothing can be refunded",
    left > 0 ? `${whatZh}最多还能退 ${left} 分` : `${whatZh}没有可退的金额`,
  );
}

const shownNames = {
  stripe: ["Stripe", "Stripe"],
  alipay: ["Alipay", "支付宝"],
  wechat: ["WeChat Pay", "微信支付"],
  bank: ["The bank", "银行"],
} as const;

/** Rethrows what a provider did not do. */
function refusedBy(provider: Provider): (error: unknown) => never {
  return (error) => {
    throw new Failure("payment_refused", named(provider), error);
  };
}

/** The details of an error that names a provider. */
function named({ name }: Pick<Provider, "name">) {
  const [provider, zh] = shownNames[name];
  return { provider, zh: { provider: zh } };
}

/** What the customer writes on a transfer: short, without characters that are easily confused. */
function makeReference(): string {
  const alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
  let text = "DQ";
  for (let i = 0; i < 10; i++) text += alphabet[randomInt(alphabet.length)]!;
  return text;
}
