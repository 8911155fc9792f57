import { z } from "zod";
import { specialReasons } from "../price.ts";
import type { Received } from "./answer.ts";
import { accountRoles, tiers } from "./choices.ts";
import { apiKey } from "./key.ts";
import { moment } from "./moment.ts";

/**
 * All amounts are tokens. `balance` is what the account can spend: it includes trial and credit line, and
 * excludes open holds.
 */
export const balance = z.strictObject({
  balance: z.number().int().meta({ description: "What the account can spend" }),
  trial_balance: z.number().int(),
  paid_balance: z.number().int(),
  held: z.number().int().meta({ description: "Set aside for calls that are running" }),
  currency: z.literal("CNY"),
  tokens_per_cny: z.number().int(),
  trial_expires_at: moment.nullable().meta({ description: "Null when there are no trial tokens" }),
  frozen: z.boolean().meta({ description: "Calls are refused with 403 until the operator ends it" }),
  credit_balance: z.number().int().optional(),
  credit_limit: z.number().int().optional().meta({ description: "Only for accounts with a credit line" }),
  budget_left: z.number().int().optional().meta({
    description: "What is left of the session's budget. Present only if the request has X-Tokens-Budget",
  }),
});
export type Balance = Received<typeof balance>;

/** An account as operators see it. */
export const account = z.strictObject({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  role: z.enum(accountRoles),
  tier: z.enum(tiers),
  created_at: moment,
  closed_at: moment.nullable().meta({ description: "When its owner closed it for good" }),
});
export type Account = Received<typeof account>;

/** An account as its own keys see it. */
export const ownAccount = account.extend({
  limits: z.strictObject({
    per_second: z.number(),
    burst: z.number().int(),
    concurrent: z.number().int(),
    per_day: z.number().int().nullable().meta({ description: "Null: no daily limit" }),
  }),
  key: apiKey.nullable().meta({ description: "The calling key; null in the console" }),
  balance,
});

/** What the caller's account pays for an operation now. */
export const ownPrice = z.strictObject({
  operation: z.string(),
  tokens: z.number().int(),
  cached_tokens: z.number().int().nullable(),
  list_tokens: z.number().int(),
  reason: z.enum(specialReasons).nullable().meta({ description: "Why it is not the list price" }),
  free_calls: z.number().int().meta({ description: "Free calls of each day" }),
  free_left: z.number().int().meta({ description: "Free calls that are left today" }),
});
export type OwnPrice = Received<typeof ownPrice>;

export const redemption = z.strictObject({ code: z.string().min(1).max(64) });
/** The balance after a voucher was redeemed, and the tokens that it added. */
export const redeemed = balance.extend({
  tokens: z.number().int(),
  percent: z.number().int().optional().meta({ description: "What a coupon takes off the list price" }),
  until: moment.optional().meta({ description: "Until when it does" }),
});
