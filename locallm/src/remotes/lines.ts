/**
 * Splits bytes into lines, however they arrive. Each byte is copied at most twice, and no more than one line is kept.
 */
export class LineReader {
  readonly #limitBytes: number;
  #buffer = Buffer.allocUnsafe(1024);
  #length = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The lines that the chunk completes, without their ends. Throws a RangeError if a line is too long. */
  push(chunk: Uint8Array): Uint8Array[] {
    const lines: Uint8Array[] = [];
    let from = 0;
    while (true) {
      const end = chunk.indexOf(newline, from);
      if (end === -1) break;
      lines.push(this.#take(chunk.subarray(from, end)));
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  /** The last line, if it has no end. */
  end(): Uint8Array[] {
    return this.#length === 0 ? [] : [this.#take(new Uint8Array())];
  }

  #take(rest: Uint8Array): Uint8Array {
    let line = rest;
    if (this.#length > 0) {
      this.#keep(rest);
      line = Uint8Array.prototype.slice.call(this.#buffer, 0, this.#length);
      this.#length = 0;
    } else if (rest.length > this.#limitBytes) throw tooLong(this.#limitBytes);
    return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
  }

  #keep(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#limitBytes) throw tooLong(this.#limitBytes);
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }
}

function tooLong(limitBytes: number): RangeError {
  return new RangeError(`a line is longer than ${limitBytes} bytes`);
}

const newline = 0x0a;
const carriageReturn = 0x0d;
