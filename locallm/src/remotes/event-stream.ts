import { LineReader } from "./lines.ts";

/** One server-sent event. `data` is its bytes, because JSON is read from bytes. */
export interface StreamEvent {
  readonly name: string;
  readonly data: Uint8Array;
}

/**
 * Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), and two other
 * forms that engines write: an error as `error: {…}`, and JSON without a field name.
 */
export class EventStreamReader {
  readonly #lines: LineReader;
  readonly #limitBytes: number;
  #name = "";
  #data: Uint8Array[] = [];
  #bytes = 0;
  #isFirst = true;

  constructor(limitBytes: number) {
    this.#lines = new LineReader(limitBytes);
    this.#limitBytes = limitBytes;
  }

  /** The events that the chunk completes. Throws a RangeError if a line or an event is too long. */
  push(chunk: Uint8Array): StreamEvent[] {
    return this.#read(this.#lines.push(chunk));
  }

  /** The last event, if no empty line follows it. */
  end(): StreamEvent[] {
    return [...this.#read(this.#lines.end()), ...this.#dispatch()];
  }

  #read(lines: readonly Uint8Array[]): StreamEvent[] {
    const events: StreamEvent[] = [];
    for (const each of lines) {
      const line = this.#isFirst ? withoutByteOrderMark(each) : each;
      this.#isFirst = false;
      if (line.length === 0) events.push(...this.#dispatch());
      else if (line[0] === brace) this.#add(line);
      else if (line[0] !== colon) this.#field(line);
    }
    return events;
  }

  #field(line: Uint8Array): void {
    const at = line.indexOf(colon);
    // All fields that matter have shorter names and a value.
    if (at === -1 || at > 10) return;
    const value = line.subarray(line[at + 1] === space ? at + 2 : at + 1);
    switch (latin1(line.subarray(0, at))) {
      case "data":
        this.#add(value);
        break;
      case "event":
        this.#name = latin1(value.subarray(0, 100));
        break;
      case "error":
        this.#name = "error";
        this.#add(value);
        break;
    }
  }

  #add(value: Uint8Array): void {
    this.#bytes += value.length + lineCost;
    if (this.#bytes > this.#limitBytes)
      throw new RangeError(`an event is longer than ${this.#limitBytes} bytes`);
    this.#data.push(value);
  }

  #dispatch(): StreamEvent[] {
    const [first] = this.#data;
    const event =
      first === undefined
        ? []
        : [{ name: this.#name, data: this.#data.length === 1 ? first : joined(this.#data) }];
    this.#name = "";
    this.#data = [];
    this.#bytes = 0;
    return event;
  }
}

function joined(lines: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [lineFeed, line])));
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

function withoutByteOrderMark(line: Uint8Array): Uint8Array {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}

/** What a line occupies besides its bytes. */
const lineCost = 64;
const lineFeed = Uint8Array.of(0x0a);
const colon = 0x3a;
const space = 0x20;
const brace = 0x7b;
