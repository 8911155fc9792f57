/**
 * Memory for the sets and scores of one segment and one question, reused for the next: new arrays for each call would
 * trigger the garbage collector every few calls. Nothing taken may be used after `reset`.
 */
export class Scratch {
  #ordinals = new Uint32Array(firstLength);
  #used = 0;
  readonly #scores = new Map<string, Float64Array>();
  readonly #words = new Map<string, Uint32Array>();

  reset(): void {
    this.#used = 0;
  }

  readonly take = (length: number): Uint32Array => {
    if (this.#used + length > this.#ordinals.length) {
      if (length > mostLength) return new Uint32Array(length);
      // Earlier arrays stay in the old memory.
      this.#ordinals = new Uint32Array(Math.min(mostLength, Math.max(2 * this.#ordinals.length, length)));
      this.#used = 0;
    }
    const taken = this.#ordinals.subarray(this.#used, this.#used + length);
    this.#used += length;
    return taken;
  };

  /** Returns an array with any content. Only one array per name can be in use at a time. */
  words(name: string, length: number): Uint32Array {
    let words = this.#words.get(name);
    if (words === undefined || length > words.length) {
      words = new Uint32Array(2 * length);
      this.#words.set(name, words);
    }
    return words.subarray(0, length);
  }

  /** Returns an array of zeros. Only one array per name can be in use at a time. */
  scores(name: string, length: number): Float64Array {
    let scores = this.#scores.get(name);
    if (scores === undefined || length > scores.length) {
      scores = new Float64Array(Math.max(firstLength, 2 * length));
      this.#scores.set(name, scores);
    }
    return scores.subarray(0, length).fill(0);
  }
}

const firstLength = 1 << 16;
const mostLength = 1 << 20;
