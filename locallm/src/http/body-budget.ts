import { LocallmError } from "../wire/errors.ts";

/** What a body may hold without a share of the budget, so that ordinary requests are never refused for large ones. */
const freeBytes = 64 * 1024;

/** Memory for the bodies of all requests that are not yet answered. */
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

/** One request's part of the budget. */
export interface BodyShare {
  /** The body has `bodyBytes` now. Throws `bodies_full` if the budget cannot hold them. */
  resize(bodyBytes: number): void;
  release(): void;
}
