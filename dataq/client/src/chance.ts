/** Where time and chance come from; tests put their own in. */
export interface Chance {
  /** Milliseconds since 1970. */
  now(): number;
  /** A number from 0 up to 1, as `Math.random`. */
  random(): number;
}

export const chance: Chance = { now: Date.now, random: Math.random };
