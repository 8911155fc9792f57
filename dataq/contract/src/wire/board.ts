import { z } from "zod";
import type { Received } from "./answer.ts";
import { approvalMethods, approvalStates } from "./choices.ts";
import { moment } from "./moment.ts";
import { wellFormed } from "./well-formed.ts";

const count = z.number().int();
const tokens = z.number().int();
const fen = z.number();

export const boardQuery = z.strictObject({
  from: z.iso
    .date()
    .optional()
    .meta({ description: "First day, China time; the first of the month of `to` by default" }),
  to: z.iso.date().optional().meta({ description: "Last day, China time; today by default" }),
});

/** The business of customers in a range of days, all from ledger, request log and requests to vendors. */
export const board = z.strictObject({
  from: z.string(),
  to: z.string(),
  money: z.strictObject({
    earned: tokens.meta({ description: "Charges less refunds of calls" }),
    earned_paid: tokens.meta({ description: "The part of it that was paid for, or will be on credit" }),
    earned_trial: tokens.meta({ description: "The part of it that was a trial or a promotion" }),
    vendor_cost_fen: fen,
    paid_in: tokens.meta({ description: "Payments, also those that operators recorded" }),
    vouchers: tokens.meta({ description: "Vouchers and opening balances, for which nobody paid here" }),
    package_bonus: tokens.meta({ description: "Tokens of packages beyond their price, when they were sold" }),
    package_expired: tokens.meta({ description: "Tokens of packages that ended before they were used" }),
    returned: tokens.meta({ description: "Refunds and chargebacks of payments" }),
  }),
  owed: z
    .strictObject({
      paid: tokens.meta({ description: "Paid and not spent: what the operator owes" }),
      trial: tokens,
      held: tokens,
      credit_drawn: tokens.meta({ description: "Spent on credit: what customers owe" }),
    })
    .meta({ description: "At the end of the range" }),
  customers: z.strictObject({
    active: count.meta({ description: "With a call" }),
    paying: count.meta({ description: "With a call that cost paid tokens" }),
    new: count,
    total: count,
  }),
  days: z.array(
    z.strictObject({
      day: z.string(),
      calls: count,
      failed: count,
      earned_paid: tokens,
      earned_trial: tokens,
      paid_in: tokens,
      vendor_cost_fen: fen,
    }),
  ),
  operations: z.array(
    z.strictObject({
      operation: z.string().nullable().meta({ description: "Null: calls with several queries, as a whole" }),
      calls: count,
      failed: count,
      earned: tokens,
      earned_trial: tokens,
      vendor_cost_fen: fen,
      p50_ms: count.nullable(),
      p95_ms: count.nullable(),
    }),
  ),
  vendors: z.array(
    z.strictObject({
      contract: z.string(),
      operation: z.string(),
      requests: count,
      failed: count,
      cost_fen: fen,
      unsure_fen: fen.meta({
        description: "The part of it for requests without an answer, which the vendor may charge or not",
      }),
      p50_ms: count.nullable(),
      p95_ms: count.nullable(),
    }),
  ),
  failures: z.array(z.strictObject({ operation: z.string().nullable(), code: z.string(), calls: count })),
  unhappy: z
    .array(z.strictObject({ account_id: z.string(), name: z.string(), calls: count, failed: count }))
    .meta({ description: "Accounts whose calls failed by no fault of theirs, or were limited" }),
  cohorts: z
    .array(
      z.strictObject({ month: z.string(), accounts: count, called: count, paid: count, earned_paid: tokens }),
    )
    .meta({ description: "What became of the accounts that got a trial, by the month of their creation" }),
});
export type Board = Received<typeof board>;

/** What an operator wrote about an account. */
export const accountNote = z.strictObject({
  id: z.string(),
  at: moment,
  actor: z.string(),
  text: z.string(),
});
export type AccountNote = Received<typeof accountNote>;
export const newAccountNote = z.strictObject({ text: wellFormed(z.string().trim().min(1).max(4_000)) });

/** A large sum, or an offer, that one operator asked for. Another approves it by sending the same request. */
export const approval = z.strictObject({
  id: z.string(),
  method: z.enum(approvalMethods),
  path: z.string(),
  body: z.record(z.string(), z.unknown()),
  account_id: z.string().meta({
    description: "Or vouchers, accounts or offers: what is new, or for everybody, concerns no account yet",
  }),
  fen: z.number().nullable().meta({
    description:
      "The sum, with what one person alone moved for the account in the day before; null for an offer, whose sum nobody knows",
  }),
  state: z.enum(approvalStates),
  asked_by: z.string(),
  asked_at: moment,
  decided_by: z.string().nullable(),
  decided_at: moment.nullable(),
});
export type Approval = Received<typeof approval>;
