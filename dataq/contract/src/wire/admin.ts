import { z } from "zod";
import { operations } from "../catalog.ts";
import { account } from "./account.ts";
import type { Received } from "./answer.ts";
import { volumeStep } from "./catalog.ts";
import { couponKinds, tiers, voucherStates } from "./choices.ts";
import { moment } from "./moment.ts";
import { pageLimit, tokenCount } from "./page.ts";
import { wellFormed } from "./well-formed.ts";

const reason = wellFormed(z.string().trim().min(1).max(500));
const positive = tokenCount.min(1);

/** All amounts are tokens. */
const wallet = z.strictObject({
  balance: z.number().int(),
  trial_balance: z.number().int(),
  paid_balance: z.number().int(),
  credit_balance: z.number().int(),
  credit_limit: z.number().int(),
  held: z.number().int(),
  trial_expires_at: moment.nullable(),
  frozen: z.boolean(),
});

export const accountWithWallet = account.extend({ wallet: wallet.nullable() });
export type AccountWithWallet = Received<typeof accountWithWallet>;

export const accountsQuery = z.strictObject({
  cursor: z.string().max(64).optional(),
  search: z
    .string()
    .trim()
    .min(1)
    .max(254)
    .optional()
    .meta({ description: "Part of a name or an email address, or a whole id" }),
  limit: pageLimit,
});

export const newAccount = z.strictObject({
  name: wellFormed(z.string().trim().min(1).max(200)),
  email: z.email().max(254).optional(),
  tokens: tokenCount
    .optional()
    .meta({ description: "Paid tokens; without this field the account gets the trial" }),
  keys: z.number().int().min(0).max(100).default(1),
  tier: z.enum(tiers).optional(),
});
export type NewAccount = Received<typeof newAccount>;
export const createdAccount = z.strictObject({ account_id: z.string(), keys: z.array(z.string()) });

export const changedAccount = z.strictObject({
  tier: z.enum(tiers).optional(),
  frozen: z.boolean().optional(),
  credit_limit: tokenCount.optional(),
});
export type ChangedAccount = Received<typeof changedAccount>;

export const adjustment = z.strictObject({ tokens: z.number().int().min(-1e12).max(1e12), reason });
export const adjusted = z.strictObject({ account_id: z.string(), balance: z.number().int() });

/** A payment received by other means. Each reference is credited once. */
export const topup = z.strictObject({
  tokens: positive,
  reference: wellFormed(z.string().trim().min(1).max(200)),
  note: reason.optional(),
});
export const toppedUp = adjusted.extend({ tokens: z.number().int() });

export const refund = z.strictObject({ request_id: z.string().max(64), tokens: positive, reason });
export const refunded = z.strictObject({ request_id: z.string(), balance: z.number().int() });

/** A voucher without its code. Only the answer that creates the voucher contains the code. */
export const voucher = z.strictObject({
  hint: z.string().meta({ description: "The last characters of the code" }),
  tokens: z.number().int(),
  batch: z.string(),
  created_at: moment,
  expires_at: moment.nullable(),
  redeemed_at: moment.nullable(),
  redeemed_by: z.string().nullable(),
});
export type Voucher = Received<typeof voucher>;

export const vouchersQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^\d{1,14}\.[0-9a-f]{64}$/)
    .optional(),
  limit: pageLimit,
  state: z.enum(voucherStates).optional(),
});
export const newVouchers = z.strictObject({
  tokens: positive,
  count: z.number().int().min(1).max(10_000).default(1),
  batch: wellFormed(z.string().trim().min(1).max(100)).default("manual"),
  expires_at: moment.optional(),
});
export type NewVouchers = Received<typeof newVouchers>;
export const createdVouchers = z.strictObject({
  tokens: z.number().int(),
  batch: z.string(),
  codes: z.array(z.string()),
});
export type CreatedVouchers = Received<typeof createdVouchers>;

export const newPrice = z.strictObject({
  operation: z.enum(operations.map((operation) => operation.name)),
  tokens: positive,
  cached_tokens: positive.nullable(),
  effective_from: moment,
});
export type NewPrice = Received<typeof newPrice>;

const operationName = z.enum(operations.map((operation) => operation.name));

/** A price for one account. Without tokens, the account pays the list price again. */
export const newAccountPrice = z.strictObject({
  operation: operationName,
  tokens: positive.nullable(),
  cached_tokens: positive.nullable(),
  effective_from: moment,
});
export type NewAccountPrice = Received<typeof newAccountPrice>;
export const accountPrice = newAccountPrice.extend({ operation: z.string(), version: z.number().int() });
export type AccountPrice = Received<typeof accountPrice>;

export const newFreeTier = z.strictObject({
  operation: operationName,
  calls: z.number().int().min(0).max(1_000_000),
  effective_from: moment,
});
export type NewFreeTier = Received<typeof newFreeTier>;

export const newVolumeLadder = z.strictObject({
  steps: z
    .array(volumeStep)
    .max(10)
    .refine(
      (steps) =>
        steps.every(
          (step, n) =>
            n === 0 || (step.from_tokens > steps[n - 1]!.from_tokens && step.percent > steps[n - 1]!.percent),
        ),
      {
        error: "must rise in from_tokens and in percent",
        params: {
          fix: "send each step with more tokens and more percent than the one before",
          fixZh: "每一档的 from_tokens 和 percent 都要大于前一档",
        },
      },
    )
    .meta({ description: "Empty: no discount by volume" }),
  effective_from: moment,
});
export type NewVolumeLadder = Received<typeof newVolumeLadder>;

/** A code that many accounts may redeem, each once: tokens of a promotion, or a discount. */
export const coupon = z.strictObject({
  code: z.string(),
  kind: z.enum(couponKinds),
  value: z.number().int().meta({ description: "Tokens, or percent off the list price" }),
  days: z.number().int().meta({ description: "How long the tokens or the discount last" }),
  most: z
    .number()
    .int()
    .nullable()
    .meta({ description: "How many accounts may redeem it; null: any number" }),
  redeemed: z.number().int(),
  created_at: moment,
  expires_at: moment.nullable(),
});
export type Coupon = Received<typeof coupon>;
export const newCoupon = z
  .strictObject({
    code: z
      .string()
      .trim()
      .toUpperCase()
      .regex(/^[A-Z0-9]{4,32}$/, "must be 4 to 32 letters and digits")
      .refine((code) => !code.startsWith("DQ"), {
        error: "must not begin with DQ, as vouchers do",
        params: { fix: "send another code", fixZh: "请换一个不以 DQ 开头的优惠码" },
      }),
    kind: z.enum(couponKinds),
    value: positive,
    days: z.number().int().min(1).max(366),
    most: z.number().int().min(1).max(1_000_000).nullable().default(null),
    expires_at: moment.nullable().default(null),
  })
  .refine(({ kind, value }) => kind !== "percent" || value <= 90, {
    path: ["value"],
    message: "must be at most 90 percent",
    params: { fix: "send at most 90", fixZh: "折扣至多 90" },
  });
export type NewCoupon = Received<typeof newCoupon>;
export const changedCoupon = z.strictObject({ expires_at: moment });

export const auditLine = z.strictObject({
  id: z.number().int(),
  at: moment,
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  request_id: z.string().nullable(),
});
export type AuditLine = Received<typeof auditLine>;

export const auditQuery = z.strictObject({
  cursor: z.coerce.number().int().positive().optional(),
  limit: pageLimit,
});

const sha256 = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f]{64}$/);
export const verifyQuery = z.strictObject({
  seal: sha256.optional().meta({ description: "A seal of the audit log that was stored elsewhere" }),
  whole: z
    .stringbool()
    .default(false)
    .meta({
      description: "`true`: check every entry of the ledger, also those that were verified before",
      enum: ["true", "false", "1", "0", "yes", "no", "on", "off"],
    }),
});

/** The result of every check of the ledger and of the audit log. */
export const verdict = z.strictObject({
  ok: z.boolean(),
  findings: z.array(
    z.strictObject({
      law: z.string(),
      text: z.string(),
      text_zh: z.string(),
      breaches: z.array(z.string()).meta({ description: "A few examples that break this rule" }),
    }),
  ),
  covers: z
    .strictObject({
      whole: z.boolean().meta({ description: "True if every entry of the ledger was checked" }),
      entries: z.number().int().meta({ description: "Entries that were checked" }),
      verified_before: z
        .number()
        .int()
        .meta({ description: "Entries that an earlier check covered; they were not read again" }),
      verified_at: moment
        .nullable()
        .meta({ description: "The last check before this one that found no breach" }),
      whole_at: moment.nullable().meta({ description: "The last check of every entry before this one" }),
    })
    .meta({ description: "What this check covers" }),
  seal: z.strictObject({ lines: z.number().int(), sha256: z.string() }).nullable(),
});
export type Verdict = Received<typeof verdict>;
