/** 1 CNY buys 50,000 tokens (specification, section 8). Tokens are integers everywhere. */
export const tokensPerCny = 50_000;

/** The price of a call by group of operations. With `cachedTokens` null, a cached answer costs the list price. */
export const priceGroups = {
  research: { tokens: 500, cachedTokens: null },
  standard: { tokens: 5_000, cachedTokens: 2_500 },
  registry: { tokens: 10_000, cachedTokens: 5_000 },
  report: { tokens: 50_000, cachedTokens: 25_000 },
} as const satisfies Record<string, Price>;

export interface Price {
  readonly tokens: number;
  readonly cachedTokens: number | null;
}

/** Why an account pays less than the list price. */
export const specialReasons = ["account_price", "volume_discount", "coupon"] as const;
export type SpecialReason = (typeof specialReasons)[number];

export type PriceGroup = keyof typeof priceGroups;
