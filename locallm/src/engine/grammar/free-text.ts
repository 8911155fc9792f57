import type { Position } from "./automaton.ts";
import type { Work } from "./work.ts";

/** The words that end the free text of an answer and start its grammar. The grammar begins with that word. */
export interface Trigger {
  /** Words that may occur anywhere in the text. */
  readonly words: readonly string[];
  /** A word that counts only at the start of the answer. White space before and inside it is ignored. */
  readonly start: string | null;
}

/**
 * Returns the first position of an answer that is free until a trigger. `bound` is the start of the grammar.
 */
export function freeText(trigger: Trigger, bound: Position): Position {
  const words = trigger.words.map((word) => Buffer.from(word));
  const anywhere = new Watching(words, bound);
  const start = Buffer.from(trigger.start ?? "");
  return start.length === 0
    ? anywhere.from(words.map(() => 0))
    : new Beginning(start, 0, bound, anywhere, words);
}

/** Searches free text for words. Each byte costs the same, regardless of the text's length. */
class Watching {
  readonly #words: readonly Uint8Array[];
  readonly #fallbacks: readonly Int32Array[];
  readonly #bound: Position;
  readonly #known = new Map<string, FreePosition>();

  constructor(words: readonly Uint8Array[], bound: Position) {
    this.#words = words;
    this.#fallbacks = words.map(fallbacks);
    this.#bound = bound;
  }

  /** `seen` contains, for each word, how many of its bytes the text ends with. */
  from(seen: readonly number[]): FreePosition {
    const key = seen.join();
    let position = this.#known.get(key);
    if (position === undefined) {
      position = new FreePosition((byte, work) => this.#after(seen, byte, work));
      this.#known.set(key, position);
    }
    return position;
  }

  #after(seen: readonly number[], byte: number, work: Work): Position | null {
    const next = seen.map((count, index) => {
      const word = this.#words[index]!;
      let length = count;
      while (length > 0 && word[length] !== byte) length = this.#fallbacks[index]![length - 1]!;
      return word[length] === byte ? length + 1 : 0;
    });
    const fired = this.#words.find((word, index) => next[index] === word.length);
    return fired === undefined ? this.from(next) : along(this.#bound, fired, work);
  }
}

/** The start of an answer that may begin with the trigger word. */
class Beginning implements Position {
  readonly canEnd = true;
  readonly isFree = true;
  readonly #word: Uint8Array;
  readonly #seen: number;
  readonly #bound: Position;
  readonly #anywhere: Watching;
  readonly #words: readonly Uint8Array[];
  readonly #after = new Map<number, Position | null>();

  constructor(
    word: Uint8Array,
    seen: number,
    bound: Position,
    anywhere: Watching,
    words: readonly Uint8Array[],
  ) {
    this.#word = word;
    this.#seen = seen;
    this.#bound = bound;
    this.#anywhere = anywhere;
    this.#words = words;
  }

  after(byte: number, work: Work): Position | null {
    let next = this.#after.get(byte);
    if (next === undefined) {
      next = this.#next(byte, work);
      this.#after.set(byte, next);
    }
    return next;
  }

  #next(byte: number, work: Work): Position | null {
    if (byte === this.#word[this.#seen]) {
      const seen = this.#seen + 1;
      if (seen === this.#word.length) return along(this.#bound, this.#word, work);
      return new Beginning(this.#word, seen, this.#bound, this.#anywhere, this.#words);
    }
    if (blanks.has(byte)) return this;
    return this.#anywhere.from(this.#words.map(() => 0)).after(byte, work);
  }
}

class FreePosition implements Position {
  readonly canEnd = true;
  readonly isFree = true;
  readonly #step: (byte: number, work: Work) => Position | null;
  readonly #after: (Position | null | undefined)[] = [];

  constructor(step: (byte: number, work: Work) => Position | null) {
    this.#step = step;
  }

  after(byte: number, work: Work): Position | null {
    const known = this.#after[byte];
    if (known !== undefined) return known;
    const next = this.#step(byte, work);
    this.#after[byte] = next;
    return next;
  }
}

function along(from: Position, bytes: Uint8Array, work: Work): Position | null {
  let position: Position | null = from;
  for (const byte of bytes) position = position?.after(byte, work) ?? null;
  return position;
}

/** For each prefix of a word, the longest shorter prefix that it ends with (Knuth-Morris-Pratt algorithm). */
function fallbacks(word: Uint8Array): Int32Array {
  const table = new Int32Array(word.length);
  for (let at = 1, length = 0; at < word.length; at += 1) {
    while (length > 0 && word[at] !== word[length]) length = table[length - 1]!;
    if (word[at] === word[length]) length += 1;
    table[at] = length;
  }
  return table;
}

const blanks = new Set([0x20, 0x09, 0x0a, 0x0d]);
