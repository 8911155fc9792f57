/**
 * The clocks of two instances differ by less than this, and so do the time of an entry and the time of its commit. An
 * entry beyond it is found by the next walk over everything.
 */
const MARGIN_MS = 120_000;
const WALK_EVERY_MS = 3_600_000;

/**
 * Tells a step that runs every few seconds which entries (or lines of the audit log) it has to look at: those since its
 * last run, and once an hour all of them.
 */
export class RecentEntries {
  #doneMs: number | undefined;
  #walkedMs = 0;

  /** Runs the step. It returns false if it could not finish; the next run then looks at the same entries again. */
  async run(now: Date, step: (since: Date | undefined) => Promise<boolean>): Promise<void> {
    const nowMs = now.getTime();
    // A clock that went back says nothing about what was seen.
    const isWalk =
      this.#doneMs === undefined || nowMs < this.#doneMs || nowMs - this.#walkedMs >= WALK_EVERY_MS;
    const isDone = await step(isWalk ? undefined : new Date(this.#doneMs! - MARGIN_MS));
    if (!isDone) return;
    this.#doneMs = nowMs;
    if (isWalk) this.#walkedMs = nowMs;
  }
}
