import { z } from "zod";
import type { Received } from "./answer.ts";
import {
  autoTopUpStates,
  chargeFailures,
  moneyReturnStates,
  moneyReturns,
  paymentNews,
  paymentProviders,
  paymentStates,
} from "./choices.ts";
import { moment } from "./moment.ts";
import { pageLimit } from "./page.ts";
import { wellFormed } from "./well-formed.ts";

const fen = z.number().int();
const amount = fen.min(1).max(1e10).meta({ description: "In fen: 100 are 1 CNY" });
const text = wellFormed(z.string().trim().min(1).max(200));

/** Money that went back to a customer. */
const moneyReturn = z.strictObject({
  id: z.string(),
  kind: z.enum(moneyReturns),
  state: z.enum(moneyReturnStates),
  amount_fen: fen,
  tokens: z.number().int().meta({ description: "What it took from the balance" }),
  reason: z.string(),
  created_at: moment,
});

/** A payment of an account. `url`, `qr` and `transfer` say how to pay it, while it is open. */
export const payment = z.strictObject({
  id: z.string(),
  provider: z.enum(paymentProviders),
  amount_fen: fen,
  currency: z.literal("CNY"),
  tokens: z.number().int().meta({ description: "What the payment adds to the balance" }),
  state: z.enum(paymentStates),
  url: z.string().nullable().meta({ description: "Page of the provider where it is paid" }),
  qr: z.string().nullable().meta({ description: "Text of a QR code that the provider's app scans" }),
  transfer: z
    .strictObject({
      payee: z.string(),
      account: z.string(),
      bank: z.string(),
      reference: z.string().meta({ description: "Must be written on the transfer" }),
    })
    .nullable(),
  created_at: moment,
  expires_at: moment,
  paid_at: moment.nullable(),
  returned_fen: fen.meta({ description: "What went back, by refunds and chargebacks" }),
  returns: z.array(moneyReturn),
  package: z.string().nullable().meta({ description: "The offer of the package that it buys" }),
  invoice_id: z.string().nullable().meta({ description: "The invoice that it is on" }),
});
export type Payment = Received<typeof payment>;

const troubleNumber = z.string().meta({ description: "The number that the provider or bank gave it" });
/** What does not fit about a payment, for a person to look at. */
const paymentTrouble = z.discriminatedUnion("code", [
  z.strictObject({ code: z.literal("paid_twice"), transaction: troubleNumber }),
  z.strictObject({
    code: z.literal("other_amount"),
    transaction: troubleNumber,
    amount: z.number().int().meta({ description: "What was paid, in the smallest unit of the currency" }),
    currency: z.string(),
  }),
  z.strictObject({ code: z.literal("account_closed") }),
  z.strictObject({
    code: z.literal("returned_too_much"),
    amount_fen: fen.meta({ description: "What went back" }),
  }),
  z.strictObject({
    code: z.literal("other"),
    text: z.string().meta({ description: "In English, as an earlier version wrote it" }),
  }),
]);
export type PaymentTrouble = Received<typeof paymentTrouble>;

/** A payment as operators see it. */
export const anyPayment = payment.extend({
  account_id: z.string(),
  account_name: z.string(),
  transaction: z.string().nullable().meta({ description: "The number that the provider or bank gave it" }),
  heard_by: z.enum(paymentNews).nullable().meta({ description: "How the service learned that it was made" }),
  trouble: paymentTrouble.nullable().meta({ description: "What does not fit, for a person to look at" }),
  lost_tokens: z
    .number()
    .int()
    .meta({ description: "Tokens of returned money that were spent before, so nobody could take them back" }),
});
export type AnyPayment = Received<typeof anyPayment>;

/** A provider that does not accept the keys of the service. */
export const shutProvider = z.strictObject({
  provider: z.enum(paymentProviders),
  since: moment,
  said: z.string().meta({ description: "What the provider answered" }),
  right: z.string().nullable().meta({
    description: "What the key may not do, such as `write refunds`; null: it is not accepted at all",
  }),
});
export type ShutProvider = Received<typeof shutProvider>;

/** The ways to pay that are on, and what may be paid. */
export const paymentOptions = z.strictObject({
  providers: z.array(
    z.strictObject({
      name: z.enum(paymentProviders),
      least_fen: fen.meta({ description: "The smallest amount that this provider takes" }),
      automatic: z.boolean().meta({ description: "Whether it can charge a saved card by itself" }),
    }),
  ),
  most_fen: fen,
  offers_fen: z.array(fen).meta({ description: "Amounts to choose from; others are accepted, too" }),
  tokens_per_cny: z.number().int(),
});
export type PaymentOptions = Received<typeof paymentOptions>;

export const newPayment = z
  .strictObject({
    provider: z.enum(paymentProviders),
    amount_fen: amount.optional(),
    package: z.string().max(64).optional().meta({ description: "A package to buy, instead of an amount" }),
  })
  .refine((wanted) => (wanted.amount_fen === undefined) !== (wanted.package === undefined), {
    path: ["amount_fen"],
    error: "must be sent, or package instead of it",
    params: { fix: "send amount_fen or package", fixZh: "请发送 amount_fen 或 package 其中之一" },
  });
export type NewPayment = Received<typeof newPayment>;

/** Charges a saved card when the balance is low, as the customer has allowed. */
export const autoTopUp = z.strictObject({
  available: z.boolean().meta({ description: "Whether the operator has set up a provider that can" }),
  state: z.enum(autoTopUpStates),
  low_tokens: z.number().int().nullable().meta({ description: "Charges when the balance is below this" }),
  amount_fen: fen.nullable(),
  most_fen: fen.nullable().meta({ description: "The most that is charged in a month (China time)" }),
  charged_fen: fen.meta({ description: "Charged this month, or about to be" }),
  card: z.string().nullable().meta({ description: "Brand and last digits" }),
  url: z.string().nullable().meta({ description: "Where the card is saved, at the provider" }),
  consented_at: moment.nullable(),
  failures: z.number().int().meta({ description: "Charges in a row that were not made" }),
  reason: z.enum(chargeFailures).nullable().meta({ description: "Why the last one was not made" }),
  retry_at: moment.nullable().meta({ description: "When the card may be charged again after a failure" }),
});
export type AutoTopUp = Received<typeof autoTopUp>;

export const newAutoTopUp = z.strictObject({
  low_tokens: z.number().int().min(1).max(1e12),
  amount_fen: amount,
  most_fen: amount,
  consent: z
    .literal(true)
    .meta({ description: "The account allows these charges; kept with time and address" }),
  new_card: z.boolean().default(false).meta({ description: "Save another card" }),
});
export type NewAutoTopUp = z.input<typeof newAutoTopUp>;

export const paymentsQuery = z.strictObject({ cursor: z.string().max(64).optional(), limit: pageLimit });
export const anyPaymentsQuery = paymentsQuery.extend({
  state: z.enum(paymentStates).optional(),
  provider: z.enum(paymentProviders).optional(),
  account: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ description: "Only payments of the account with this id" }),
});

/** Money that arrived at the bank. The amount must be that of the payment. */
export const paymentConfirmation = z.strictObject({
  transaction: text.meta({ description: "The bank's number of the transfer; each is credited once" }),
  amount_fen: amount,
});
export type PaymentConfirmation = Received<typeof paymentConfirmation>;

export const newMoneyReturn = z.strictObject({
  amount_fen: amount,
  reason: text,
  transaction: text
    .optional()
    .meta({ description: "The bank's number of your transfer back; only for payments by bank transfer" }),
});
export type NewMoneyReturn = Received<typeof newMoneyReturn>;
