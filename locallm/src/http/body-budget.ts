import { LocallmError } from "../wire/errors.ts";

/** Bodies up to this size do not count, so that large requests cannot block ordinary ones. */
const freeBytes = 64 * 1024;

/** Limits the memory for the bodies of all unanswered requests together. */
export class BodyBudget {
  readonly #totalBytes: number;
  #usedBytes = 0;

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes;
  }

  open(): BodyShare {
    let heldBytes = 0;
    return {
      resize: (bodyBytes) => {
        const wantedBytes = Math.max(0, bodyBytes - freeBytes);
        if (wantedBytes > heldBytes && this.#usedBytes - heldBytes + wantedBytes > this.#totalBytes)
          throw new LocallmError("bodies_full", {});
        this.#usedBytes += wantedBytes - heldBytes;
        heldBytes = wantedBytes;
      },
      release: () => {
        this.#usedBytes -= heldBytes;
        heldBytes = 0;
      },
    };
  }
}

/** One request's share of the budget. */
export interface BodyShare {
  /** Sets the share to `bodyBytes`. Throws `bodies_full` if the budget is exhausted. */
  resize(bodyBytes: number): void;
  release(): void;
}
