/**
 * Turns the pieces of tokens into text that may be sent: a code point is never split, and nothing is let
 * out that may yet turn out to be part of a stop string. A stop string fires at the character that completes
 * it, however the bytes were cut; when two end at the same character, the one that begins first.
 */
export class AnswerText {
  readonly #stops: readonly string[];
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #held = "";
  #stop: string | null = null;

  constructor(stops: readonly string[]) {
    // Half a code point is in no text: looked for all the same, it would be found inside a whole one.
    this.#stops = stops.filter((stop) => stop !== "" && stop.isWellFormed());
  }

  /** The stop string that fired; nothing is let out from then on. */
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
      return this.#letOut(found.begin);
    }
    return this.#letOut(this.#held.length - openEnd(this.#held, this.#stops));
  }

  /** The answer ended by itself: what was held back is text after all. Half a code point is dropped. */
  end(): string {
    return this.#stop === null ? this.#letOut(this.#held.length) : "";
  }

  #letOut(length: number): string {
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

/** Length of the longest end of `text` with which some stop string begins. */
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
