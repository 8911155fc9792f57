// Written by scripts/generate.ts; change the contract, or the script, and run it again.

/** The price of a call now, in tokens. */
export interface Estimate {
  tokens: number;
  /** Whether the cache has the whole answer */
  cached: boolean;
  balance_after: number;
  /** Only generated samples answer; the call is free */
  sample?: true;
  /** Why the account pays less than the list price */
  reason?: "free_tier" | "account_price" | "volume_discount" | "coupon" | (string & {});
  /** For each of several queries, in order */
  data?: Array<{
    tokens: number;
    cached: boolean;
    sample?: true;
    /** Why the account pays less than the list price */
    reason?: "free_tier" | "account_price" | "volume_discount" | "coupon" | (string & {});
  }>;
}

/** The tokens of an account. */
export interface Balance {
  /** What the account can spend */
  balance: number;
  trial_balance: number;
  paid_balance: number;
  /** Set aside for calls that are running */
  held: number;
  currency: "CNY";
  tokens_per_cny: number;
  /** Null when there are no trial tokens */
  trial_expires_at: string | null;
  /** Calls are refused with 403 until the operator ends it */
  frozen: boolean;
  credit_balance?: number;
  /** Only for accounts with a credit line */
  credit_limit?: number;
  /** What is left of the session's budget. Present only if the request has X-Tokens-Budget */
  budget_left?: number;
}

export type UsageGroup = "day" | "operation" | "key" | "project" | "code";

/** Calls and tokens of one group. */
export interface UsageRow {
  day?: string;
  /** Null for calls without a known operation */
  operation?: string | null;
  key?: string;
  /** Null for calls outside of projects */
  project?: string | null;
  /** Null for calls that succeeded */
  code?: string | null;
  calls: number;
  billed_calls: number;
  cached_calls: number;
  /** Calls that returned an error */
  failed_calls: number;
  tokens: number;
}
