import pino from "pino";

/**
 * Writes log lines to standard error. All lines of one turn of the event loop are written in one call, because a call
 * takes longer than everything else that a line costs.
 */
export class StandardError {
  readonly #output = pino.destination({ dest: 2, sync: true, minLength: 8_192 });
  readonly #flush = () => {
    this.#isWaiting = false;
    this.#output.flushSync();
  };
  #isWaiting = false;

  constructor() {
    process.on("exit", this.#flush);
  }

  write(json: string): void {
    this.#output.write(json);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setImmediate(this.#flush);
  }

  close(): void {
    this.#flush();
    process.off("exit", this.#flush);
  }
}
