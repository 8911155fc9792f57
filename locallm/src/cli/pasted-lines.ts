import { Transform, type TransformCallback } from "node:stream";

/** Stands for a line end within a pasted text while the text is edited as one line. */
export const lineEndSign = "␤";

const start = "\u001b[200~";
const end = "\u001b[201~";

/** Asks a terminal to mark what is pasted, or to stop doing so (xterm's bracketed paste). */
export const markPastes = "\u001b[?2004h";
export const markNoPastes = "\u001b[?2004l";

/**
 * A terminal's input in which line ends of pasted texts are `␤`, so that a text of several lines stays one message.
 * Handles marks that are split between two reads.
 */
export class PastedLines extends Transform {
  readonly isTTY = true;
  readonly #terminal: NodeJS.ReadStream;
  #isPasting = false;
  #rest = "";

  constructor(terminal: NodeJS.ReadStream) {
    super({ decodeStrings: false, encoding: "utf8" });
    this.#terminal = terminal;
    terminal.setEncoding("utf8").pipe(this);
  }

  /** What readline calls to read key by key. */
  setRawMode(isRaw: boolean): this {
    this.#terminal.setRawMode(isRaw);
    return this;
  }

  /** Lets go of the terminal, so that the program can end. */
  close(): void {
    this.#terminal.unpipe(this);
    this.#terminal.pause();
  }

  override _transform(chunk: Buffer | string, _encoding: BufferEncoding, done: TransformCallback): void {
    let text = this.#rest + String(chunk);
    let out = "";
    for (;;) {
      const mark = this.#isPasting ? end : start;
      const at = text.indexOf(mark);
      if (at < 0) break;
      out += this.#shown(text.slice(0, at));
      text = text.slice(at + mark.length);
      this.#isPasting = !this.#isPasting;
    }
    const kept = splitMark(text, this.#isPasting ? end : start);
    out += this.#shown(text.slice(0, text.length - kept));
    this.#rest = text.slice(text.length - kept);
    done(null, out);
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#shown(this.#rest));
  }

  #shown(text: string): string {
    // One sign for CR LF, also where a read ends between the two: a lone LF behind a CR never comes from a terminal.
    return this.#isPasting ? text.replace(/\r\n?|\n/g, lineEndSign) : text;
  }
}

/** How many characters at the end may begin `mark`. A lone Escape that is typed is a key. */
function splitMark(text: string, mark: string): number {
  const shortest = mark === end ? 1 : 2;
  for (let length = Math.min(text.length, mark.length - 1); length >= shortest; length--)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}
