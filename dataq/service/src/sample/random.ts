/** Numbers from a seed text: the same seed gives the same numbers on every machine. */
export class Random {
  #state: number;

  constructor(seed: string) {
    let hash = 0x811c9dc5;
    for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193);
    this.#state = hash >>> 0;
  }

  /** From 0 (included) to 1 (excluded). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.next() * items.length)] as Item;
  }

  /** Different items, in a random order. */
  several<Item>(items: readonly Item[], count: number): Item[] {
    const left = [...items];
    const out: Item[] = [];
    while (out.length < count && left.length > 0)
      out.push(...left.splice(Math.floor(this.next() * left.length), 1));
    return out;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Normally distributed, mean 0, deviation 1. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  /** A day between two years, both included, YYYY-MM-DD. */
  day(fromYear: number, toYear: number): string {
    const from = Date.UTC(fromYear, 0, 1);
    const to = Date.UTC(toYear, 11, 28);
    return new Date(from + this.next() * (to - from)).toISOString().slice(0, 10);
  }
}

/** The date this many days later. */
export function laterBy(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
}
