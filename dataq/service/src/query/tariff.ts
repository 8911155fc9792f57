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
] as const;

/** What a call costs, and why it is not the list price. */
export interface Charge {
  readonly tokens: number;
  readonly reason: (typeof dueReasons)[number] | null;
}

/**
 * What a call is going to cost: the one place that estimate, dry run, max_tokens and the hold itself ask.
 * `isOwnRepeat`: the same account asked the same within the answer's time.
 */
export function quote(price: PriceVersion, isOwnRepeat: boolean): Charge {
  return isOwnRepeat && price.cachedTokens !== null
    ? { tokens: price.cachedTokens, reason: "cache_hit" }
    : { tokens: price.tokens, reason: null };
}

/** What an answer costs once it is known: never more than was quoted. */
export function chargeFor(
  quoted: Charge,
  { outcome, sample, notHeld }: Pick<Answer, "outcome" | "sample" | "notHeld">,
  chargeEmpty: boolean,
): Charge {
  if (outcome === "insufficient_elements") return { tokens: 0, reason: "insufficient_elements" };
  if (outcome === "past_end" || outcome === "not_found") return { tokens: 0, reason: "no_result" };
  if (sample) return samplesOnly;
  if (outcome === "found") return quoted;
  if (notHeld) return { tokens: 0, reason: "not_held" };
  return chargeEmpty ? quoted : { tokens: 0, reason: "no_result" };
}

/** What a call costs that only samples can answer. */
export const samplesOnly: Charge = { tokens: 0, reason: "sample" };

/** Whether an answer to this question may come from the cache at all. Research has no cache price. */
export function isCacheable(request: QueryRequest, price: PriceVersion): boolean {
  return price.cachedTokens !== null && request.operation.cacheS > 0;
}
