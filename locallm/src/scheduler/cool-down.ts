import type { Clock } from "./clock.ts";

/** Runners that recently failed to load. Until the pause ends, requests for them get the same error without a retry. */
export class CoolDown {
  readonly #clock: Clock;
  readonly #failed = new Map<
    string,
    { readonly error: unknown; readonly untilMs: number; readonly times: number }
  >();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  fail(line: string, error: unknown): void {
    this.#dropExpired();
    const times = (this.#failed.get(line)?.times ?? 0) + 1;
    const pauseMs = Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    this.#failed.set(line, { error, untilMs: this.#clock.now() + pauseMs, times });
  }

  clear(line: string): void {
    this.#failed.delete(line);
  }

  /** The error to repeat, or undefined if a load may be tried. */
  error(line: string): unknown {
    const failed = this.#failed.get(line);
    return failed !== undefined && this.#clock.now() < failed.untilMs ? failed.error : undefined;
  }

  /** Bounds the map: a client can request the same weights with any number of load options. */
  #dropExpired(): void {
    for (const [line, { untilMs }] of this.#failed) {
      if (this.#clock.now() - untilMs > longestPauseMs) this.#failed.delete(line);
    }
  }
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
