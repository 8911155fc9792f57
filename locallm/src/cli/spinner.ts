/** A sign of life on a terminal while nothing else can be shown; elsewhere it shows nothing. */
export class Spinner {
  readonly #output: NodeJS.WriteStream;
  #timer: NodeJS.Timeout | null = null;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  /** Shows `text` if `stop` is not called soon. */
  start(text: string): void {
    if (!this.#output.isTTY) return;
    let frame = 0;
    this.#timer = setInterval(() => {
      this.#output.write(`${clearLine}${frames[frame++ % frames.length]} ${text}`);
    }, frameMs);
  }

  /** Clears the line. May be called again and again. */
  stop(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#output.write(clearLine);
  }
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** Also what a quick answer has before the first frame. */
const frameMs = 120;
const clearLine = "\r\u001b[K";
