import type { Clock } from "../src/scheduler/clock.ts";

/** A clock that moves only when `pass` is called. */
export class ManualClock implements Clock {
  #now = 0;
  #timers = new Set<{ atMs: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  /** How many callbacks are pending. */
  get timers(): number {
    return this.#timers.size;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { atMs: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  async pass(ms: number): Promise<void> {
    const endMs = this.#now + ms;
    await settled();
    for (;;) {
      const next = [...this.#timers].filter((t) => t.atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = next.atMs;
      next.callback();
      await settled();
    }
    this.#now = endMs;
  }
}

/** Waits until all pending promises have run. */
export const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
