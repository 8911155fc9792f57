import { Transform, type TransformCallback } from "node:stream";

/** Replaces line ends in pasted text, which is edited as one line. */
export const lineEndSign = "␤";

const start = "\u001b[200~";
const end = "\u001b[201~";

/** Turn xterm's bracketed paste mode on and off. */
export const markPastes = "\u001b[?2004h";
export const markNoPastes = "\u001b[?2004l";

/**
 * Terminal input with the line ends of pasted text replaced by `␤`, so that several pasted lines are one message.
 * Handles paste marks that are split between two reads.
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

  /** Called by readline to read key by key. */
  setRawMode(isRaw: boolean): this {
    this.#terminal.setRawMode(isRaw);
    return this;
  }

  /** Releases the terminal, so that the process can exit. */
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
    // CR LF counts as one line end.
    return this.#isPasting ? text.replace(/\r\n?|\n/g, lineEndSign) : text;
  }
}

/** How many characters at the end of `text` may be the start of `mark`. A lone Escape is a typed key. */
function splitMark(text: string, mark: string): number {
  const shortest = mark === end ? 1 : 2;
  for (let length = Math.min(text.length, mark.length - 1); length >= shortest; length--)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}
