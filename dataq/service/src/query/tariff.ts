import { type Operation, specialReasons } from "@dataq/contract";
import type { PriceVersion } from "../ledger/price.ts";
import type { Answer } from "../sources/source.ts";
import type { QueryRequest } from "./request/request.ts";

/** Why a call costs less than its list price. */
export const dueReasons = [
  "cache_hit",
  "no_result",
  "not_held",
  "insufficient_elements",
  "sample",
  "sandbox",
  "replayed",
  "free_tier",
  ...specialReasons,
] as const;

/** What a call costs, and why that is not the list price. */
export interface Charge {
  readonly tokens: number;
  readonly reason: (typeof dueReasons)[number] | null;
}

/**
 * The price of one call. For an operation that is priced per number of units, the number is rounded up; a call without
 * units costs 0.
 */
export function priceOfCall(
  price: PriceVersion,
  { pricedPer }: Pick<Operation, "pricedPer">,
  count: number,
): PriceVersion {
  if (pricedPer === undefined) return price;
  const parts = Math.ceil(count / pricedPer.count);
  const { tokens, cachedTokens, special } = price;
  return {
    ...price,
    tokens: parts * tokens,
    cachedTokens: cachedTokens === null ? null : parts * cachedTokens,
    ...(special && { special: { ...special, listTokens: parts * special.listTokens } }),
  };
}

/**
 * The price of a call before it runs. Estimate, dry run, max_tokens and the hold all use it. `isOwnRepeat`: the same
 * account asked the same question within the cache time.
 */
export function quote(price: PriceVersion, isOwnRepeat: boolean): Charge {
  if (price.tokens === 0) return nothingToCharge;
  return isOwnRepeat && price.cachedTokens !== null
    ? { tokens: price.cachedTokens, reason: "cache_hit" }
    : { tokens: price.tokens, reason: price.special?.reason ?? null };
}

/** The list price of a call, whatever the account pays. */
export function listTokensOf({ tokens, special }: PriceVersion): number {
  return special?.listTokens ?? tokens;
}

/** The price of an answer once it is known: never more than was quoted. */
export function chargeFor(
  quoted: Charge,
  { outcome, sample, notHeld }: Pick<Answer, "outcome" | "sample" | "notHeld">,
  chargeEmpty: boolean,
): Charge {
  if (outcome === "insufficient_elements") return { tokens: 0, reason: "insufficient_elements" };
  if (outcome === "past_end" || outcome === "not_found") return { tokens: 0, reason: "no_result" };
  if (sample) return samplesOnly;
  if (notHeld) return { tokens: 0, reason: "not_held" };
  if (outcome === "found") return quoted;
  return chargeEmpty ? quoted : { tokens: 0, reason: "no_result" };
}

/** The price of a call that the free tier of its operation covers. */
export const freeTier: Charge = { tokens: 0, reason: "free_tier" };

/** The price of a call that only samples can answer. */
export const samplesOnly: Charge = { tokens: 0, reason: "sample" };

/** The price of a call without any unit that it is priced by. */
const nothingToCharge: Charge = { tokens: 0, reason: "no_result" };

/** Whether an answer to this question may come from the cache. Research has no cache price. */
export function isCacheable(request: QueryRequest, price: PriceVersion): boolean {
  return price.cachedTokens !== null && request.operation.cacheS > 0;
}
