/**
 * Memory for the sets and scores of one segment and one question, used again for the next: new arrays at the rate of
 * the calls would make the collector run every few of them. Nothing taken may be held past `reset`.
 */
export class Scratch {
  #ordinals = new Uint32Array(firstLength);
  #used = 0;
  #scores = new Float64Array(firstLength);

  reset(): void {
    this.#used = 0;
  }

  readonly take = (length: number): Uint32Array => {
    if (this.#used + length > this.#ordinals.length) {
      if (length > mostLength) return new Uint32Array(length);
      // What was taken before stays in the old memory.
      this.#ordinals = new Uint32Array(Math.min(mostLength, Math.max(2 * this.#ordinals.length, length)));
      this.#used = 0;
    }
    const taken = this.#ordinals.subarray(this.#used, this.#used + length);
    this.#used += length;
    return taken;
  };

  /** Zeros; one at a time. */
  scores(length: number): Float64Array {
    if (length > this.#scores.length) this.#scores = new Float64Array(2 * length);
    return this.#scores.subarray(0, length).fill(0);
  }
}

const firstLength = 1 << 16;
const mostLength = 1 << 20;
