import { LocallmError } from "../../wire/errors.ts";

/** The limits are documented in docs/locallm/limits.md. */
export const grammarLimits = {
  /** Processor time that an answer may use before its first token. */
  creditMs: 250,
  /** Processor time that each token of an answer adds. */
  perTokenMs: 4,
  /** The number of alternatives that may be followed for one character. */
  stacks: 20_000,
  grammarChars: 4 << 20,
  /** The number of nodes of a compiled grammar. */
  nodes: 500_000,
} as const;

/**
 * Limits the processor time of an answer's grammar. All answers of a model share a thread, so a slow grammar
 * would delay the other answers.
 */
export class Work {
  readonly #clockMs: () => number;
  #creditMs: number;
  #startMs = 0;
  #steps = 0;

  constructor(clockMs: () => number, creditMs: number = grammarLimits.creditMs) {
    this.#clockMs = clockMs;
    this.#creditMs = creditMs;
  }

  /** Runs the work for one token. */
  token<Result>(work: () => Result): Result {
    this.#creditMs = Math.min(this.#creditMs + grammarLimits.perTokenMs, grammarLimits.creditMs);
    return this.measure(work);
  }

  measure<Result>(work: () => Result): Result {
    this.#startMs = this.#clockMs();
    try {
      return work();
    } finally {
      this.#creditMs -= this.#clockMs() - this.#startMs;
    }
  }

  /** Runs work that is done once per model, by the first answer that needs it. Its time does not count. */
  unmeasured<Result>(work: () => Result): Result {
    const startMs = this.#clockMs();
    try {
      return work();
    } finally {
      this.#startMs += this.#clockMs() - startMs;
    }
  }

  /** Counts steps of work. Inner loops call it. Throws `grammar_too_slow`. */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps < stepsBetweenLooks) return;
    this.#steps = 0;
    if (this.#clockMs() - this.#startMs > this.#creditMs)
      throw new LocallmError("grammar_too_slow", { ms: grammarLimits.creditMs });
  }
}

/**
 * The number of steps between two readings of the clock: about 0.1 ms, because a reading takes a microsecond.
 */
const stepsBetweenLooks = 2048;

/** The processor time of this thread. It excludes the time of other processes on a busy machine. */
export function threadTimeMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
