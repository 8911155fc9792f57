import type { Clock } from "./clock.ts";

/** Lines whose load failed lately: asked again at once, they get the same error without another try. */
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
    this.#forgetLongPast();
    const times = (this.#failed.get(line)?.times ?? 0) + 1;
    const pauseMs = Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    this.#failed.set(line, { error, untilMs: this.#clock.now() + pauseMs, times });
  }

  clear(line: string): void {
    this.#failed.delete(line);
  }

  /** Undefined: it may be tried. */
  error(line: string): unknown {
    const failed = this.#failed.get(line);
    return failed !== undefined && this.#clock.now() < failed.untilMs ? failed.error : undefined;
  }

  /** Who wants can ask for the same weights in any number of ways; what failed long ago begins anew. */
  #forgetLongPast(): void {
    for (const [line, { untilMs }] of this.#failed) {
      if (this.#clock.now() - untilMs > longestPauseMs) this.#failed.delete(line);
    }
  }
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
