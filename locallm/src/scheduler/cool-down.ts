import type { Clock } from "./clock.ts";

/**
 * Remembers what recently failed, such as the load of a runner. Until the pause ends, requests for it get the
 * same error without a retry.
 */
export class CoolDown {
  readonly #clock: Clock;
  readonly #failed = new Map<
    string,
    { readonly error: unknown; readonly untilMs: number; readonly times: number }
  >();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  fail(key: string, error: unknown): void {
    this.#dropExpired();
    const times = (this.#failed.get(key)?.times ?? 0) + 1;
    const pauseMs = Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    this.#failed.set(key, { error, untilMs: this.#clock.now() + pauseMs, times });
  }

  clear(key: string): void {
    this.#failed.delete(key);
  }

  /** The error to repeat, or undefined if a load may be tried. */
  error(key: string): unknown {
    const failed = this.#failed.get(key);
    return failed !== undefined && this.#clock.now() < failed.untilMs ? failed.error : undefined;
  }

  /** Removes expired entries. This bounds the map, because a client can request any number of keys. */
  #dropExpired(): void {
    for (const [key, { untilMs }] of this.#failed) {
      if (this.#clock.now() - untilMs > longestPauseMs) this.#failed.delete(key);
    }
  }
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
