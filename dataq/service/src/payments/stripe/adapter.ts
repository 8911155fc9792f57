import { send } from "../ask.ts";
import {
  type Bill,
  type News,
  NotGenuine,
  type Notification,
  NotLetIn,
  type OwnAddresses,
  type PaidBill,
  type Provider,
  type Received,
  type Refund,
  type RefundState,
  Refused,
  type SavedCard,
  type TellAdmission,
  unknownIfRefused,
  type Way,
} from "../provider.ts";
import type { StripeSettings } from "../settings.ts";
import { verifySignature } from "./signature.ts";

/** The version of the API whose fields this file reads. */
const VERSION = "2024-06-20";

/** Why a card was not charged. Stripe has a name of its own for it, and the bank's name for a declined one. */
interface StripeRefusal {
  readonly code?: string;
  readonly decline_code?: string;
  readonly message?: string;
}

/** The fields of Stripe's objects that are read here (https://docs.stripe.com/api). */
interface StripeObject {
  readonly id: string;
  readonly mode?: string;
  readonly setup_intent?: string | null;
  readonly customer?: string | null;
  readonly payment_method?: {
    readonly id: string;
    readonly card?: { readonly brand: string; readonly last4: string };
  };
  readonly last_payment_error?: StripeRefusal | null;
  readonly amount_received?: number;
  readonly status?: string | null;
  readonly url?: string | null;
  readonly payment_status?: string;
  readonly payment_intent?: string | null;
  readonly amount_total?: number;
  readonly amount?: number;
  readonly currency?: string;
  readonly client_reference_id?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly data?: readonly StripeObject[];
}

/** Stripe Checkout: the customer pays on a page of Stripe. */
export class Stripe implements Provider {
  readonly name = "stripe";
  /** Stripe takes no less than about half a dollar. */
  readonly leastFen = 400;
  readonly #settings: StripeSettings;
  readonly #tell: TellAdmission;

  constructor(settings: StripeSettings, tell: TellAdmission) {
    this.#settings = settings;
    this.#tell = tell;
  }

  async create(bill: Bill, { back }: OwnAddresses): Promise<Way> {
    const session = await this.#post("/v1/checkout/sessions", bill.id, {
      mode: "payment",
      client_reference_id: bill.id,
      "metadata[payment]": bill.id,
      "payment_intent_data[metadata][payment]": bill.id,
      "line_items[0][quantity]": "1",
      "line_items[0][price_data][currency]": "cny",
      "line_items[0][price_data][unit_amount]": String(bill.amountFen),
      "line_items[0][price_data][product_data][name]": "dataq",
      expires_at: String(Math.floor(bill.expiresAt.getTime() / 1000)),
      success_url: back(bill.id),
      cancel_url: back(bill.id),
    });
    if (!session.url) throw new Error("Stripe answered without a page to pay on");
    return { url: session.url, providerId: session.id };
  }

  async ask(bill: Bill): Promise<News | undefined> {
    // Without a session nobody ever saw a page to pay on.
    if (bill.providerId === null) return undefined;
    return newsOfSession(await this.#get(`/v1/checkout/sessions/${encodeURIComponent(bill.providerId)}`));
  }

  async saveCard(accountId: string, back: string) {
    const session = await this.#post("/v1/checkout/sessions", undefined, {
      mode: "setup",
      currency: "cny",
      customer_creation: "always",
      client_reference_id: accountId,
      success_url: back,
      cancel_url: back,
    });
    if (!session.url) throw new Error("Stripe answered without a page to save a card on");
    return { setupId: session.id, url: session.url };
  }

  async readCard(setupId: string): Promise<SavedCard | undefined> {
    const session = await this.#get(`/v1/checkout/sessions/${encodeURIComponent(setupId)}`);
    if (session.status !== "complete" || !session.setup_intent || !session.customer) return undefined;
    const path = `/v1/setup_intents/${encodeURIComponent(session.setup_intent)}?expand[]=payment_method`;
    const { status, payment_method: method } = await this.#get(path);
    if (status !== "succeeded" || !method) return undefined;
    const { brand = "", last4 = "" } = method.card ?? {};
    return { customer: session.customer, method: method.id, label: `${brand} ···· ${last4}` };
  }

  async charge(bill: Bill, { customer, method }: Omit<SavedCard, "label">): Promise<News | undefined> {
    // Stripe forgets idempotency keys after a day, so it is asked first.
    const intent =
      (await this.#findCharge(bill, customer).catch(unknownIfRefused)) ??
      (await this.#post("/v1/payment_intents", bill.id, {
        amount: String(bill.amountFen),
        currency: "cny",
        customer,
        payment_method: method,
        off_session: "true",
        confirm: "true",
        "metadata[payment]": bill.id,
        "metadata[auto]": "1",
      }));
    const news = newsOfCharge(intent);
    if (news?.kind === "closed") throw new Refused("Stripe did not charge the card", news.reason);
    return news;
  }

  async askCharge(bill: Bill, { customer }: Omit<SavedCard, "label">): Promise<News | "none" | undefined> {
    const known = await this.#findCharge(bill, customer);
    return known ? newsOfCharge(known) : "none";
  }

  async #findCharge(bill: Bill, customer: string): Promise<StripeObject | undefined> {
    const query = new URLSearchParams({ customer, limit: "100" });
    const list = await this.#get(`/v1/payment_intents?${query}`);
    return list.data?.find(({ metadata }) => metadata?.["payment"] === bill.id);
  }

  async refund(bill: PaidBill, refund: Refund): Promise<RefundState> {
    // Stripe forgets idempotency keys after a day, so it is asked first.
    const known = await this.#findRefund(bill, refund);
    if (known) return stateOf(known);
    return stateOf(
      await this.#post("/v1/refunds", refund.id, {
        payment_intent: bill.transaction,
        amount: String(refund.amountFen),
        "metadata[refund]": refund.id,
      }),
    );
  }

  async askRefund(bill: PaidBill, refund: Refund): Promise<RefundState> {
    const known = await this.#findRefund(bill, refund).catch(unknownIfRefused);
    return known ? stateOf(known) : this.refund(bill, refund);
  }

  async askChargeback(paymentId: string, providerId: string): Promise<News> {
    const { amount = 0, status } = await this.#get(`/v1/disputes/${encodeURIComponent(providerId)}`);
    // A dispute that is won gives the money back; every other state keeps it.
    const state = status === "won" ? "failed" : "done";
    return { kind: "chargeback", paymentId, providerId, amountFen: amount, state };
  }

  async read({ headers, body, now }: Received): Promise<Notification> {
    verifySignature(String(headers["stripe-signature"] ?? ""), body, this.#settings.webhook_secret, now);
    const event = JSON.parse(body.toString()) as {
      readonly id?: string;
      readonly type?: string;
      readonly data?: { readonly object?: StripeObject };
    };
    const object = event.data?.object;
    if (typeof event.id !== "string" || object === undefined)
      throw new NotGenuine("it is not an event", "不是事件");
    if (object.mode === "setup") return { id: event.id, news: [], setupId: object.id };
    const news = await this.#newsOf(event.type ?? "", object);
    return { id: event.id, news: news === undefined ? [] : [news] };
  }

  async #newsOf(type: string, object: StripeObject): Promise<News | undefined> {
    if (type.startsWith("checkout.session.")) return newsOfSession(object);
    if (/^payment_intent\.(succeeded|payment_failed)$/.test(type))
      return object.metadata?.["auto"] === "1" ? newsOfCharge(object) : undefined;
    const isRefund = /^refund\.(created|updated|failed)$/.test(type);
    const isDispute = /^charge\.dispute\.funds_(withdrawn|reinstated)$/.test(type);
    if (!(isRefund || isDispute) || !object.payment_intent) return undefined;
    const intent = await this.#get(`/v1/payment_intents/${encodeURIComponent(object.payment_intent)}`);
    const paymentId = intent.metadata?.["payment"];
    // A payment of another program that uses the same Stripe account.
    if (paymentId === undefined) return undefined;
    const amountFen = object.amount ?? 0;
    if (isDispute) {
      const state = type.endsWith("withdrawn") ? "done" : "failed";
      return { kind: "chargeback", paymentId, providerId: object.id, amountFen, state };
    }
    const refundId = object.metadata?.["refund"] ?? null;
    return { kind: "refund", paymentId, refundId, amountFen, ...stateOf(object) };
  }

  async #findRefund(bill: PaidBill, refund: Refund): Promise<StripeObject | undefined> {
    const query = new URLSearchParams({ payment_intent: bill.transaction, limit: "100" });
    const list = await this.#get(`/v1/refunds?${query}`);
    return list.data?.find(({ metadata }) => metadata?.["refund"] === refund.id);
  }

  #get(path: string): Promise<StripeObject> {
    return this.#send("GET", path);
  }

  #post(path: string, idempotencyKey: string | undefined, fields: Readonly<Record<string, string>>) {
    return this.#send("POST", path, new URLSearchParams(fields).toString(), idempotencyKey);
  }

  async #send(
    method: "GET" | "POST",
    path: string,
    body?: string,
    idempotencyKey?: string,
  ): Promise<StripeObject> {
    const { status, text } = await send({
      method,
      url: `${this.#settings.address}${path}`,
      headers: {
        authorization: `Bearer ${this.#settings.secret_key}`,
        "stripe-version": VERSION,
        ...(body !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      ...(body !== undefined && { body }),
    });
    const answer = JSON.parse(text) as StripeObject & { readonly error?: StripeRefusal };
    const right = rightOf(method, path);
    if (status === 200) {
      await this.#tell(undefined, right);
      return answer;
    }
    const said = `Stripe answered ${status}: ${answer.error?.message ?? "no reason"}`;
    // 409 and 429 ask for another try; so does everything that is not the caller's fault.
    if (status < 400 || status >= 500 || status === 409 || status === 429) throw new Error(said);
    if (status === 401 || status === 403) {
      // 403: the key is known, and restricted to other requests.
      await this.#tell(said, status === 403 ? right : undefined);
      throw new NotLetIn(said);
    }
    throw new Refused(said, nameOf(answer.error));
  }
}

/** What a restricted key may do or not, such as `write refunds`. */
function rightOf(method: "GET" | "POST", path: string): string {
  const [, , ...names] = path.split("?", 1)[0]!.split("/");
  const resource = names[0] === "checkout" ? "checkout sessions" : names[0]!.replaceAll("_", " ");
  return `${method === "GET" ? "read" : "write"} ${resource}`;
}

/** What is known of a charge: a bank that wants to see the customer has refused it. */
function newsOfCharge(intent: StripeObject): News | undefined {
  const paymentId = intent.metadata?.["payment"];
  if (paymentId === undefined) return undefined;
  if (intent.status === "succeeded")
    return {
      kind: "paid",
      paymentId,
      transaction: intent.id,
      amountFen: intent.amount_received ?? intent.amount ?? 0,
      currency: (intent.currency ?? "").toUpperCase(),
    };
  return intent.status === "processing"
    ? undefined
    : { kind: "closed", paymentId, reason: nameOf(intent.last_payment_error) };
}

/** The bank's own names are left out, such as that of a stolen card, except the one that a customer can do something about. */
function nameOf(refusal: StripeRefusal | null | undefined): string | undefined {
  const { code, decline_code: bank } = refusal ?? {};
  return bank === "insufficient_funds" ? bank : code;
}

function newsOfSession(session: StripeObject): News | undefined {
  const paymentId = session.metadata?.["payment"];
  if (paymentId === undefined || paymentId !== session.client_reference_id) return undefined;
  if (session.payment_status === "paid" && session.payment_intent)
    return {
      kind: "paid",
      paymentId,
      transaction: session.payment_intent,
      amountFen: session.amount_total ?? 0,
      currency: (session.currency ?? "").toUpperCase(),
    };
  return session.status === "expired" ? { kind: "closed", paymentId } : undefined;
}

function stateOf({ id, status }: StripeObject): RefundState {
  const state =
    status === "succeeded" ? "done" : status === "failed" || status === "canceled" ? "failed" : "pending";
  return { state, providerId: id };
}
