/**
 * How often the server asks a runner for its progress, and after how many questions without progress it kills
 * the runner.
 */
export interface HeartbeatLimits {
  readonly everyMs: number;
  readonly questions: number;
}

/** The runner is killed after 60 seconds without progress. */
export const heartbeatLimits: HeartbeatLimits = { everyMs: 5_000, questions: 12 };

/** After this many questions without progress the runner is reported as unresponsive. */
const lateQuestions = 2;

/**
 * Detects whether a runner still makes progress. The server asks it regularly, and the runner answers with
 * one number per loop. A loop that makes progress returns a different number each time. The class counts
 * questions instead of time, so that a runner is not killed if server and runner were stopped together.
 */
export class Heartbeat {
  readonly #limits: HeartbeatLimits;
  #progress: readonly number[] = [];
  #withoutProgress = 0;

  constructor(limits: HeartbeatLimits) {
    this.#limits = limits;
  }

  /** Called when the server asks the runner. */
  ask(): void {
    this.#withoutProgress++;
  }

  /** Called with the runner's answer. */
  hear(progress: readonly number[]): void {
    const isMoving = progress.every((count, loop) => count !== this.#progress[loop]);
    this.#progress = progress;
    if (isMoving) this.#withoutProgress = 0;
  }

  get isLate(): boolean {
    return this.#withoutProgress > lateQuestions;
  }

  get isStalled(): boolean {
    return this.#withoutProgress > this.#limits.questions;
  }

  get seconds(): number {
    return (this.#limits.everyMs * this.#limits.questions) / 1000;
  }
}
