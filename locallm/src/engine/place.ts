/** A free slot, and how many of a prompt's tokens it can reuse from its cache. */
export interface Candidate {
  readonly slot: { readonly arrived: number };
  readonly tokens: number;
}

/**
 * A job gets the slot with the best cache if that cache holds at least this share of the prompt. Otherwise it
 * gets the oldest slot.
 */
const worthwhileShare = 0.1;

/**
 * Chooses the slot of a prompt. If something better than any slot's cache was found elsewhere, it goes into the oldest
 * slot. There must be a candidate.
 */
export function choosePlace<Free extends Candidate>(
  free: readonly Free[],
  promptTokens: number,
  isFoundElsewhere: boolean,
): Free {
  const byAge = free.toSorted((a, b) => a.slot.arrived - b.slot.arrived);
  const oldest = byAge[0]!;
  // Of equals the oldest: where all slots have the same system prompt, the conversation that rests longest goes.
  const best = byAge.reduce((a, b) => (b.tokens > a.tokens ? b : a));
  return !isFoundElsewhere && best.tokens >= promptTokens * worthwhileShare ? best : oldest;
}
