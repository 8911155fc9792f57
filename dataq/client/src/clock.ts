/** Time and randomness, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** A number from 0 to 1, like `Math.random`. */
  random(): number;
}

export const systemClock: Clock = { now: Date.now, random: Math.random };
