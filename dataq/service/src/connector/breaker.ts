export interface BreakerOptions {
  /** Number of consecutive failures that open the breaker. */
  readonly failures: number;
  readonly coolDownMs: number;
  readonly now: () => number;
}

/**
 * A circuit breaker: after several consecutive failures it opens and refuses calls at once. After a pause it lets one
 * call through to see whether the vendor works again.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #failuresInRow = 0;
  #openedAtMs: number | undefined;
  #isTrying = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Whether a call may be sent. Each sent call must end with `succeed`, `fail` or `leave`. */
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

  /** A call that says nothing about the vendor, such as one that the client cancelled. */
  leave(): void {
    this.#isTrying = false;
  }
}
