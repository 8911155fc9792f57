import { writeSync } from "node:fs";

/**
 * Memory that the runner's thread shares with the one that writes: a place for each lent connection. A place holds the
 * lines of one step. The runner fills it while it is free; the thread that writes has it while it is full.
 */
export class Writing {
  static readonly places = 256;
  /** Lines of one step for one connection take so much at most. A longer one is written by the runner's thread. */
  static readonly placeBytes = 4096;

  readonly memory: SharedArrayBuffer;
  readonly #control: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(
    memory = new SharedArrayBuffer(headBytes + Writing.places * (fields * 4 + Writing.placeBytes)),
  ) {
    this.memory = memory;
    this.#control = new Int32Array(memory, 0, (headBytes + Writing.places * fields * 4) / 4);
    this.#bytes = new Uint8Array(memory, headBytes + Writing.places * fields * 4);
  }

  /** Adds bytes after the `length` that a free place holds. Returns false if it has no room for them. */
  add(place: number, bytes: Uint8Array, length: number): boolean {
    if (length + bytes.length > Writing.placeBytes) return false;
    this.#bytes.set(bytes, place * Writing.placeBytes + length);
    return true;
  }

  /** Leaves what a free place holds to the thread that writes, which looks at it after `wake`. */
  fill(place: number, fd: number, length: number): void {
    const at = stateOf(place);
    this.#control[at + fdField] = fd;
    this.#control[at + lengthField] = length;
    Atomics.store(this.#control, at, full);
  }

  wake(): void {
    Atomics.add(this.#control, wakings, 1);
    Atomics.notify(this.#control, wakings);
  }

  get isReady(): boolean {
    return Atomics.load(this.#control, ready) === 1;
  }

  /**
   * Waits until a place is free again. Returns what was not written of it, because the connection takes no more or is
   * closed; null if all was.
   */
  settle(place: number): Uint8Array | null {
    const at = stateOf(place);
    while (Atomics.load(this.#control, at) === full)
      if (Atomics.wait(this.#control, at, full, longestWriteMs) === "timed-out")
        throw new Error("the thread that writes to clients does not answer");
    const length = this.#control[at + lengthField]!;
    const written = this.#control[at + writtenField]!;
    this.#control[at + lengthField] = this.#control[at + writtenField] = 0;
    if (written === length) return null;
    return this.#bytes.slice(place * Writing.placeBytes + written, place * Writing.placeBytes + length);
  }

  /** Ends `serve`. Nothing may be left to it. */
  end(): void {
    Atomics.store(this.#control, ended, 1);
    this.wake();
  }

  /** Writes what is left to it, until `end`. Only the thread that writes calls this. */
  serve(): void {
    const control = this.#control;
    Atomics.store(control, ready, 1);
    for (let seen = 0; Atomics.load(control, ended) === 0; ) {
      Atomics.wait(control, wakings, seen);
      seen = Atomics.load(control, wakings);
      for (let place = 0; place < Writing.places; place++) {
        const at = stateOf(place);
        if (Atomics.load(control, at) !== full) continue;
        const from = place * Writing.placeBytes;
        const line = this.#bytes.subarray(from, from + control[at + lengthField]!);
        control[at + writtenField] = writeNow(control[at + fdField]!, line);
        Atomics.store(control, at, free);
        Atomics.notify(control, at);
      }
    }
  }
}

/** Returns how many bytes were written: 0 if the connection takes none now, or is closed. */
export function writeNow(fd: number, bytes: Uint8Array): number {
  try {
    return writeSync(fd, bytes);
  } catch {
    return 0;
  }
}

/** The states of a place. */
const [free, full] = [0, 1];
/** The numbers that say how often the thread was woken, whether it has begun, and whether it shall end. */
const [wakings, ready, ended] = [0, 1, 2];
const headBytes = 64;
/** The numbers of a place: its state, and these. */
const [fdField, lengthField, writtenField] = [1, 2, 3];
const fields = 4;
const stateOf = (place: number) => headBytes / 4 + place * fields;
/** Connections never block. Only a machine without a free moment needs longer. */
const longestWriteMs = 30_000;
