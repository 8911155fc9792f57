/**
 * A posting block: for each document in ascending order, the distance from the previous one (varint, 7 bits per byte,
 * low first) and one byte of term frequency. On real judgments this takes two bytes per posting.
 */
export interface Postings {
  readonly ordinals: Uint32Array;
  readonly frequencies: Uint8Array;
  /** For a frequent term: its frequency by ordinal, 0 if the document lacks it. */
  readonly dense: Uint8Array | undefined;
}

/** Builds a block posting by posting. Ordinals must ascend. */
export class BlockWriter {
  documents = 0;
  /** The last ordinal. */
  last = 0;
  #bytes = new Uint8Array(8);
  #length = 0;

  add(ordinal: number, frequency: number): void {
    this.#fit(6);
    const bytes = this.#bytes;
    let length = this.#length;
    let gap = ordinal - this.last;
    while (gap > 127) {
      bytes[length++] = (gap & 127) | 128;
      gap >>>= 7;
    }
    bytes[length++] = gap;
    bytes[length++] = Math.min(frequency, 255);
    this.#length = length;
    this.last = ordinal;
    this.documents++;
  }

  /** Adds a block whose ordinals begin at `base`. It has at least one document. */
  append(block: Uint8Array, documents: number, base: number, last: number): void {
    let at = 0;
    let first = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = block[at++] as number;
      first |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    this.add(base + first, block[at++] as number);
    this.#fit(block.length - at);
    this.#bytes.set(block.subarray(at), this.#length);
    this.#length += block.length - at;
    this.documents += documents - 1;
    this.last = base + last;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #fit(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const bigger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    bigger.set(this.#bytes);
    this.#bytes = bigger;
  }
}

/** The memory of a decoded block of a segment with `limit` documents, in whole words. */
export function decodedBytes(documents: number, limit: number): number {
  return 4 * Math.ceil((5 * documents + (isDense(documents, limit) ? limit : 0)) / 4);
}

/** The parts of a decoded block that begins at `offset`. */
export function postingsAt(
  memory: ArrayBufferLike,
  offset: number,
  documents: number,
  limit: number,
): Postings {
  const at = offset + 4 * documents;
  return {
    ordinals: new Uint32Array(memory, offset, documents),
    frequencies: new Uint8Array(memory, at, documents),
    dense: isDense(documents, limit) ? new Uint8Array(memory, at + documents, limit) : undefined,
  };
}

/** Decodes a block. Rejects a damaged one, whose count is wrong or whose ordinals exceed `limit`. */
export function decode(bytes: Uint8Array, { ordinals, frequencies, dense }: Postings, limit: number): void {
  const documents = ordinals.length;
  dense?.fill(0);
  let at = 0;
  let ordinal = 0;
  for (let i = 0; i < documents; i++) {
    let byte = bytes[at++] as number;
    let gap = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++] as number;
      gap |= (byte & 127) << shift;
    }
    ordinal += gap;
    const frequency = bytes[at++] as number;
    ordinals[i] = ordinal;
    frequencies[i] = frequency;
    if (dense !== undefined) dense[ordinal] = frequency;
  }
  if (at !== bytes.length || (documents > 0 && ordinal >= limit)) {
    throw new Error(`A posting block of ${documents} documents and ${bytes.length} bytes is damaged.`);
  }
}

/** At this share of documents the dense form is only a little larger, and much faster to read. */
function isDense(documents: number, limit: number): boolean {
  return documents * denseFrom > limit;
}

const denseFrom = 16;
