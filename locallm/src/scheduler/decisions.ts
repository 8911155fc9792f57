import type { Decision } from "./lease.ts";

/**
 * The scheduler's latest decisions and their reasons. `ps?explain` shows them, and the debug log contains all
 * decisions.
 */
export class Decisions {
  readonly #kept: Decision[] = [];
  readonly #listener: (decision: Decision) => void;
  readonly #now: () => number;

  constructor(now: () => number, listener: (decision: Decision) => void) {
    this.#now = now;
    this.#listener = listener;
  }

  add(model: string, what: Decision["what"], why: string, tookMs: number | null = null): void {
    const decision: Decision = { atMs: this.#now(), model, what, why, tookMs };
    this.#kept.push(decision);
    if (this.#kept.length > keptDecisions) this.#kept.shift();
    this.#listener(decision);
  }

  /** Oldest first. */
  list(): Decision[] {
    return [...this.#kept];
  }
}

const keptDecisions = 100;
