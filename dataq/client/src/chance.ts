/** Time and randomness, which tests replace. */
export interface Chance {
  /** Milliseconds since 1970. */
  now(): number;
  /** A number from 0 to 1, like `Math.random`. */
  random(): number;
}

export const chance: Chance = { now: Date.now, random: Math.random };
