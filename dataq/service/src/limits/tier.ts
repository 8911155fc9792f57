/** What an account may do in a time, by its tier. */
export interface Limits {
  /** Calls a second in the long run. */
  readonly perSecond: number;
  /** Calls that a rested account may make at once. */
  readonly burst: number;
  /** Calls that may be open at the same time. */
  readonly concurrent: number;
  /** Calls on one day of China's calendar; null: any number. */
  readonly perDay: number | null;
}

const limits = {
  trial: { perSecond: 2, burst: 10, concurrent: 4, perDay: 5_000 },
  standard: { perSecond: 10, burst: 50, concurrent: 20, perDay: null },
  pro: { perSecond: 50, burst: 200, concurrent: 100, perDay: null },
  operator: { perSecond: 5_000, burst: 5_000, concurrent: 1_000, perDay: null },
} as const satisfies Record<string, Limits>;

export function limitsOf(tier: keyof typeof limits): Limits {
  return limits[tier];
}
