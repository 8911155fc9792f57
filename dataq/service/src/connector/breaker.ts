export interface BreakerOptions {
  /** So many failures in a row open it. */
  readonly failures: number;
  readonly coolDownMs: number;
  readonly now: () => number;
}

/**
 * Keeps calls from a vendor that fails: after some failures in a row it is open, and calls are refused at once;
 * after a while one call tries whether the vendor is back.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #failuresInRow = 0;
  #openedAtMs: number | undefined;
  #isTrying = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Whether a call may go out. One that may must end in `succeed`, `fail` or `leave`. */
  enter(): { readonly isOpen: false } | { readonly isOpen: true; readonly retryAfterS: number } {
    if (this.#openedAtMs === undefined) return { isOpen: false };
    const leftMs = this.#openedAtMs + this.#options.coolDownMs - this.#options.now();
    if (leftMs > 0 || this.#isTrying)
      return { isOpen: true, retryAfterS: Math.max(1, Math.ceil(leftMs / 1000)) };
    this.#isTrying = true;
    return { isOpen: false };
  }

  succeed(): void {
    this.#failuresInRow = 0;
    this.#openedAtMs = undefined;
    this.#isTrying = false;
  }

  fail(): void {
    this.#failuresInRow++;
    this.#isTrying = false;
    if (this.#failuresInRow >= this.#options.failures) this.#openedAtMs = this.#options.now();
  }

  /** A call that says nothing of the vendor, such as one whose client left. */
  leave(): void {
    this.#isTrying = false;
  }
}
