import type { Postings } from "./codec.ts";

/** Decoded blocks, the longest unused forgotten first. `null` remembers that a segment lacks the term. */
export class BlockCache {
  readonly #limitBytes: number;
  readonly #blocks = new Map<string, Postings | null>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get(segment: number, term: string): Postings | null | undefined {
    const key = `${segment} ${term}`;
    const block = this.#blocks.get(key);
    if (block !== undefined) {
      this.#blocks.delete(key);
      this.#blocks.set(key, block);
    }
    return block;
  }

  put(segment: number, term: string, block: Postings | null): void {
    const key = `${segment} ${term}`;
    if (this.#blocks.has(key)) return;
    this.#blocks.set(key, block);
    this.#bytes += sizeBytes(key, block);
    for (const [oldKey, old] of this.#blocks) {
      if (this.#bytes <= this.#limitBytes) break;
      this.#blocks.delete(oldKey);
      this.#bytes -= sizeBytes(oldKey, old);
    }
  }
}

function sizeBytes(key: string, block: Postings | null): number {
  return 100 + 2 * key.length + (block === null ? 0 : 5 * block.ordinals.length);
}
