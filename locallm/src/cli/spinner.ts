/** A spinner on a terminal; prints nothing elsewhere. */
export class Spinner {
  readonly #output: NodeJS.WriteStream;
  #timer: NodeJS.Timeout | null = null;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  /** Shows `text` unless `stop` is called within one frame. */
  start(text: string): void {
    if (!this.#output.isTTY) return;
    let frame = 0;
    this.#timer = setInterval(() => {
      this.#output.write(`${clearLine}${frames[frame++ % frames.length]} ${text}`);
    }, frameMs);
  }

  /** Clears the line. May be called repeatedly. */
  stop(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#output.write(clearLine);
  }
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** The time between two frames, which is also the delay before the first one. */
const frameMs = 120;
const clearLine = "\r\u001b[K";
