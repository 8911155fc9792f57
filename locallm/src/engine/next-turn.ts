import { commonLength } from "./prefix.ts";

/** Templates put fewer tokens than this between an answer and the next message. */
const mostTokens = 16;

/**
 * Learns which tokens follow an answer. A template puts the same ones between each answer and the next
 * message, so what the last two turns had in common is expected in the next one.
 */
export class NextTurn {
  #last: readonly number[] | null = null;
  #expected: readonly number[] = [];

  get expected(): readonly number[] {
    return this.#expected;
  }

  /** Records the cells that followed an answer. Those from the first picture on are not expected again. */
  saw(cells: readonly number[]): void {
    const picture = cells.findIndex((cell) => cell < 0);
    const first = cells.slice(0, Math.min(mostTokens, picture < 0 ? mostTokens : picture));
    if (this.#last !== null) this.#expected = first.slice(0, commonLength(this.#last, first));
    this.#last = first;
  }
}
