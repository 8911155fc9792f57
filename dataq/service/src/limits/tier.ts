/** The limits of an account on calls. */
export interface Limits {
  /** Calls a second in the long run. */
  readonly perSecond: number;
  /** Calls that an account can make at once after a pause. */
  readonly burst: number;
  /** Calls that may be open at the same time. */
  readonly concurrent: number;
  /** Calls per day of China's calendar; null: any number. */
  readonly perDay: number | null;
}

const limits = {
  trial: { perSecond: 2, burst: 10, concurrent: 4, perDay: 5_000 },
  standard: { perSecond: 10, burst: 50, concurrent: 20, perDay: null },
  pro: { perSecond: 50, burst: 200, concurrent: 100, perDay: null },
  operator: { perSecond: 5_000, burst: 5_000, concurrent: 1_000, perDay: null },
} as const satisfies Record<string, Limits>;

/** How often something may happen: the sustained rate, and the burst after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Allowance for everything but calls. 1 is about one indexed query; `http/access.ts` says what each route costs. */
const manageLimits = {
  trial: { perSecond: 20, burst: 200 },
  standard: { perSecond: 50, burst: 500 },
  pro: { perSecond: 100, burst: 1_000 },
  operator: { perSecond: 1_000, burst: 10_000 },
} as const satisfies Record<keyof typeof limits, Rate>;

/** Questions that one address may ask without an account. */
export const trialLimit: Rate = { perSecond: 1 / 30, burst: 20 };

/** Those of all addresses together: the number of a day, of which a tenth may come at once. */
export function trialsOf(perDay: number): Rate {
  return { perSecond: perDay / 86_400, burst: Math.max(1, Math.floor(perDay / 10)) };
}

export function manageLimitsOf(tier: keyof typeof limits): Rate {
  return manageLimits[tier];
}

export function limitsOf(tier: keyof typeof limits): Limits {
  return limits[tier];
}
