/**
 * Converts the pieces of tokens to text that may be sent. It never splits a code point, and it holds back
 * text that may still become a stop string. A stop string matches at the character that completes it,
 * regardless of the pieces. If two stop strings end at the same character, the one that begins first wins.
 */
export class AnswerText {
  readonly #stops: readonly string[];
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #held = "";
  #stop: string | null = null;

  constructor(stops: readonly string[]) {
    // A stop string with half a surrogate pair never occurs in a text, but the search would find it inside a
    // whole pair.
    this.#stops = stops.filter((stop) => stop !== "" && stop.isWellFormed());
  }

  /** The stop string that matched. No more text is sent after it. */
  get stop(): string | null {
    return this.#stop;
  }

  /** Returns what may be sent now. */
  push(piece: Uint8Array): string {
    if (this.#stop !== null) return "";
    const text = this.#decoder.decode(piece, { stream: true });
    if (this.#stops.length === 0 || text === "") return text;
    this.#held += text;
    const found = firstStop(this.#held, this.#stops);
    if (found !== null) {
      this.#stop = found.stop;
      return this.#release(found.begin);
    }
    return this.#release(this.#held.length - openEnd(this.#held, this.#stops));
  }

  /** Ends the answer and returns the text that was held back. Drops incomplete code points. */
  end(): string {
    return this.#stop === null ? this.#release(this.#held.length) : "";
  }

  #release(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#stop === null ? this.#held.slice(length) : "";
    return text;
  }
}

function firstStop(text: string, stops: readonly string[]): { stop: string; begin: number } | null {
  let best: { stop: string; begin: number; end: number } | null = null;
  for (const stop of stops) {
    const begin = text.indexOf(stop);
    if (begin < 0) continue;
    const end = begin + stop.length;
    if (best === null || end < best.end || (end === best.end && begin < best.begin)) {
      best = { stop, begin, end };
    }
  }
  return best;
}

/** Returns the length of the longest suffix of `text` that is a prefix of a stop string. */
function openEnd(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(stop.slice(0, length))) {
        longest = length;
        break;
      }
    }
  }
  return longest;
}
