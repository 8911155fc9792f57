import { z } from "zod";
import type { Received } from "./answer.ts";
import { moment } from "./moment.ts";

const whole = z.number().int();

/** Tokens that can be bought in advance: they cost less than others, and end. */
export const packageOffer = z.strictObject({
  id: z.string(),
  tokens: whole,
  price_fen: whole.meta({ description: "In fen: 100 are 1 CNY" }),
  days: whole.meta({ description: "How long the tokens can be used after the payment" }),
});
export type PackageOffer = Received<typeof packageOffer>;

export const newPackageOffer = z
  .strictObject({
    tokens: whole.min(1).max(1e12),
    price_fen: whole.min(1).max(1e10),
    days: whole.min(1).max(1_096),
  })
  .refine(({ tokens, price_fen }) => tokens >= price_fen * 500, {
    path: ["tokens"],
    error: "must be at least what the price buys without a package",
    params: { fix: "send at least 500 tokens for each fen", fixZh: "每分至少 500 点" },
  })
  // The largest discount of a coupon, so that a zero too many is not sold.
  .refine(({ tokens, price_fen }) => tokens <= price_fen * 5_000, {
    path: ["tokens"],
    error: "must be at most ten times what the price buys without a package",
    params: { fix: "send at most 5,000 tokens for each fen", fixZh: "每分至多 5,000 点" },
  });
export type NewPackageOffer = Received<typeof newPackageOffer>;

/** A package that the account bought. */
export const boughtPackage = z.strictObject({
  id: z.string(),
  payment_id: z.string(),
  tokens: whole,
  left: whole.meta({ description: "What calls have not used; part of the paid balance" }),
  bought_at: moment,
  ends_at: moment,
  ended_at: moment.nullable().meta({ description: "When it expired, or its money went back" }),
});
export type BoughtPackage = Received<typeof boughtPackage>;

/** What is offered, and what the account has bought. */
export const packages = z.strictObject({
  offers: z.array(packageOffer),
  data: z.array(boughtPackage).meta({ description: "Packages of the account, newest first" }),
});
export type Packages = Received<typeof packages>;
