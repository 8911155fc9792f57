import { normOf, normPerLengthOf } from "../../bm25.ts";
import type { SegmentTable } from "../../snapshots/open-snapshot.ts";
import { type Few, type Many, wordsOf } from "./sets.ts";

/*
 * A posting block: for each document in ascending order, the distance from the previous one (varint, 7 bits per byte,
 * low first) and one byte of term frequency. On real judgments this takes two bytes per posting.
 */

/**
 * The numbers that describe a block to a ranking thread: part, term, chunk, offset, documents; then position and length
 * in the stored blocks, or -1 if the block is already decoded. Not in `rank-worker.ts`, because any thread that imports
 * that file would handle the messages of the ranking threads.
 */
export const blockFields = 7;

/** The documents of a term in a segment. */
export type Postings = RarePostings | FrequentPostings;

export interface RarePostings extends Few {
  /** In the order of `ordinals`. */
  readonly frequencies: Uint8Array;
}

export interface FrequentPostings extends Many {
  /** By ordinal; 0 if the document lacks the term. */
  readonly frequencies: Uint8Array;
  /**
   * By ordinal: the share of the term's worth that BM25 gives a document, in 255ths, rounded up. It is computed with the
   * mean length of the segment; that of a snapshot may differ.
   */
  readonly impacts: Uint8Array;
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
  return isFrequent(documents, limit)
    ? 4 * wordsOf(limit) + 2 * wholeWords(limit)
    : wholeWords(5 * documents);
}

/** The parts of a decoded block that begins at `offset`. */
export function postingsAt(
  memory: ArrayBufferLike,
  offset: number,
  documents: number,
  limit: number,
): Postings {
  if (!isFrequent(documents, limit)) {
    return {
      size: documents,
      ordinals: new Uint32Array(memory, offset, documents),
      bits: undefined,
      frequencies: new Uint8Array(memory, offset + 4 * documents, documents),
    };
  }
  const words = wordsOf(limit);
  const at = offset + 4 * words;
  return {
    size: documents,
    ordinals: undefined,
    bits: new Uint32Array(memory, offset, words),
    frequencies: new Uint8Array(memory, at, limit),
    impacts: new Uint8Array(memory, at + wholeWords(limit), limit),
  };
}

/** Decodes a block. Rejects a damaged one, whose count is wrong or whose ordinals exceed those of its segment. */
export function decode(
  bytes: Uint8Array,
  postings: Postings,
  segment: Pick<SegmentTable, "documents" | "tokens" | "lengths">,
): void {
  const { size, ordinals, frequencies } = postings;
  const write = ordinals === undefined ? frequentWriter(postings, segment) : undefined;
  let at = 0;
  let ordinal = 0;
  for (let i = 0; i < size; i++) {
    let byte = bytes[at++] as number;
    let gap = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++] as number;
      gap |= (byte & 127) << shift;
    }
    ordinal += gap;
    const frequency = bytes[at++] as number;
    if (ordinals === undefined) write?.(ordinal, frequency);
    else {
      ordinals[i] = ordinal;
      frequencies[i] = frequency;
    }
  }
  if (at !== bytes.length || (size > 0 && ordinal >= segment.documents)) {
    throw new Error(`A posting block of ${size} documents and ${bytes.length} bytes is damaged.`);
  }
}

function frequentWriter(
  { bits, frequencies, impacts }: FrequentPostings,
  { documents, tokens, lengths }: Pick<SegmentTable, "documents" | "tokens" | "lengths">,
): (ordinal: number, frequency: number) => void {
  const normPerLength = normPerLengthOf(tokens, documents);
  bits.fill(0);
  frequencies.fill(0);
  impacts.fill(0);
  return (ordinal, frequency) => {
    bits[ordinal >>> 5] = (bits[ordinal >>> 5] as number) | (1 << (ordinal & 31));
    frequencies[ordinal] = frequency;
    const share = frequency / (frequency + normOf(lengths[ordinal] as number, normPerLength));
    impacts[ordinal] = Math.ceil(255 * share);
  };
}

function wholeWords(bytes: number): number {
  return (bytes + 3) & ~3;
}

/** At this share of documents a value for each document is a few times larger, and much faster to read. */
function isFrequent(documents: number, limit: number): boolean {
  return documents * frequentFrom > limit;
}

const frequentFrom = 8;
