import { LocallmError } from "../../wire/errors.ts";

/** Documented in docs/locallm/limits.md. */
export const grammarLimits = {
  /** An answer may use this much processor time ahead of what its tokens earn. */
  creditMs: 250,
  /** What each token of an answer earns. */
  perTokenMs: 4,
  /** Alternatives that one character may have to be compared with. */
  stacks: 20_000,
  grammarChars: 4 << 20,
  /** Nodes of one compiled grammar. */
  nodes: 500_000,
} as const;

/**
 * The processor time that the grammar of one answer may take. All answers of a model share a thread: what one
 * grammar takes, the others wait for.
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

  /** Runs one token's share of the work. */
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

  /** For what is made once per model, whoever needs it first. */
  unmeasured<Result>(work: () => Result): Result {
    const startMs = this.#clockMs();
    try {
      return work();
    } finally {
      this.#startMs += this.#clockMs() - startMs;
    }
  }

  /** Called from inner loops. Throws `grammar_too_slow`. */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps < stepsBetweenLooks) return;
    this.#steps = 0;
    if (this.#clockMs() - this.#startMs > this.#creditMs)
      throw new LocallmError("grammar_too_slow", { ms: grammarLimits.creditMs });
  }
}

/** About 0.1 ms: the clock itself takes a microsecond. */
const stepsBetweenLooks = 2048;

/** Processor time of this thread: other processes on a busy machine do not count. */
export function threadTimeMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
