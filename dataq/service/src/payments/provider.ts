import type { PaymentProvider } from "@dataq/contract/wire";

/** What a provider is asked to collect. The amount was bound to the account before the provider hears of it. */
export interface Bill {
  /** Ours; the provider keeps it with the payment. */
  readonly id: string;
  readonly amountFen: number;
  readonly expiresAt: Date;
  /** The provider's name for the payment, if it gave one. */
  readonly providerId: string | null;
}

/** A bill that was paid. */
export interface PaidBill extends Bill {
  readonly transaction: string;
}

/** Where the customer pays: a page, or a QR code. */
export interface Way {
  readonly url?: string;
  readonly qr?: string;
  readonly providerId?: string;
}

/** Money to send back. The same `id` is sent back once, however often it is asked for. */
export interface Refund {
  readonly id: string;
  readonly amountFen: number;
  readonly reason: string;
}

export type RefundState = {
  readonly state: "pending" | "done" | "failed";
  readonly providerId: string | null;
};

/** A fact that a provider states about one payment. Facts can come in any order, and more than once. */
export type News = { readonly paymentId: string } & (
  | {
      readonly kind: "paid";
      readonly transaction: string;
      readonly amountFen: number;
      readonly currency: string;
    }
  /** It can no longer be paid. Of the charge of a card: why, as the provider names it. */
  | { readonly kind: "closed"; readonly reason?: string | undefined }
  /** `refundId` is ours; null for a refund that somebody made at the provider. */
  | ({ readonly kind: "refund"; readonly refundId: string | null; readonly amountFen: number } & RefundState)
  /** The customer's bank took the money (`done`), or has given it back to us (`failed`). */
  | {
      readonly kind: "chargeback";
      readonly providerId: string;
      readonly amountFen: number;
      readonly state: "done" | "failed";
    }
);

/** A card that a customer has saved at the provider, to be charged without them. */
export interface SavedCard {
  readonly customer: string;
  readonly method: string;
  /** What the customer sees of it. */
  readonly label: string;
}

export interface Notification {
  /** The provider's own ID of the notification. */
  readonly id: string;
  /** A card was saved, or not, at this setup. */
  readonly setupId?: string;
  readonly news: readonly News[];
}

export interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly now: Date;
}

/**
 * Is told why a provider did not let this service in; undefined if it did. `right` is what the request needs of the key,
 * where a key has rights of its own: it was refused for that right alone, or shows that it is there.
 */
export type TellAdmission = (said: string | undefined, right?: string) => Promise<void>;

/** Addresses of this service that a provider is told. */
export interface OwnAddresses {
  /** Where the customer returns to. */
  readonly back: (paymentId: string) => string;
  readonly notify: string;
}

/**
 * A payment provider. Every method may be repeated, and throws `Refused` if the provider said no, `NotLetIn` if it did
 * not look at the payment, or any other error if nobody knows what happened.
 */
export interface Provider {
  readonly name: PaymentProvider;
  readonly leastFen: number;
  create(bill: Bill, addresses: OwnAddresses): Promise<Way>;
  /** Asks whether it was paid. Undefined while it can be paid. */
  ask(bill: Bill): Promise<News | undefined>;
  refund(bill: PaidBill, refund: Refund, addresses: OwnAddresses): Promise<RefundState>;
  askRefund(bill: PaidBill, refund: Refund, addresses: OwnAddresses): Promise<RefundState>;
  /** Asks for a chargeback that was heard of: whether the bank still has the money. */
  askChargeback?(paymentId: string, providerId: string): Promise<News>;
  /** Begins to save a card. Providers without it cannot charge by themselves. */
  saveCard?(accountId: string, back: string): Promise<{ readonly setupId: string; readonly url: string }>;
  /** The card that was saved; undefined while there is none. */
  readCard?(setupId: string): Promise<SavedCard | undefined>;
  /** Charges a card, once for each bill. Undefined while nobody knows. Throws `Refused` if the bank said no. */
  charge?(bill: Bill, card: Omit<SavedCard, "label">): Promise<News | undefined>;
  /** Asks for a charge, and makes none. Undefined while nobody knows what becomes of it; `none` if there is none. */
  askCharge?(bill: Bill, card: Omit<SavedCard, "label">): Promise<News | "none" | undefined>;
  /** Verifies a notification and reads it. Throws `NotGenuine`. */
  read(received: Received): Promise<Notification>;
}

/** The provider answered that it does not do this. */
export class Refused extends Error {
  /** Why, as the provider names it. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The provider does not know this service: a key, a right, or the account behind them is not the one that it expects. It
 * did nothing, and says nothing of what was done before. Only the operator can mend it.
 */
export class NotLetIn extends Error {}

/** For a question whether something was done before: if it is refused, nobody knows. */
export function unknownIfRefused(error: unknown): never {
  if (!(error instanceof Refused)) throw error;
  throw new Error(`it is not known what was done before: ${error.message}`, { cause: error });
}

/** A notification that the provider did not sign, or signed too long ago. */
export class NotGenuine extends Error {
  /** What is wrong with it, in Chinese; the message says it in English. */
  readonly zh: string;

  constructor(message: string, zh: string, options?: ErrorOptions) {
    super(message, options);
    this.zh = zh;
  }
}

/** Money in yuan with two decimals, as some providers write it: 1234 fen are 12.34. */
export function yuanOf(fen: number): string {
  return `${Math.trunc(fen / 100)}.${String(fen % 100).padStart(2, "0")}`;
}

/** The opposite of `yuanOf`. Throws if it is no amount. */
export function fenOf(yuan: string): number {
  const [, whole, decimals = ""] = /^(\d{1,10})(?:\.(\d{1,2}))?$/.exec(yuan) ?? [];
  if (whole === undefined) throw new Error(`${JSON.stringify(yuan.slice(0, 20))} is not an amount`);
  return Number(whole) * 100 + Number(decimals.padEnd(2, "0"));
}
