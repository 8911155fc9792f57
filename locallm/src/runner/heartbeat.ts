/** How often a runner is asked how far it has come, and after how many questions without progress it is ended. */
export interface HeartbeatLimits {
  readonly everyMs: number;
  readonly questions: number;
}

/** 60 seconds without progress. */
export const heartbeatLimits: HeartbeatLimits = { everyMs: 5_000, questions: 12 };

/** After this many questions without progress the runner is reported as unresponsive. */
const lateQuestions = 2;

/**
 * Whether a runner still makes progress. It is asked from time to time and answers with a number for each of its
 * loops; a loop that makes progress gives another number each time. Questions are counted rather than time, so that
 * a server that was stopped itself, with its runners, blames nobody.
 */
export class Heartbeat {
  readonly #limits: HeartbeatLimits;
  #progress: readonly number[] = [];
  #withoutProgress = 0;

  constructor(limits: HeartbeatLimits) {
    this.#limits = limits;
  }

  /** The runner is asked now. */
  ask(): void {
    this.#withoutProgress++;
  }

  /** Its answer. */
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
