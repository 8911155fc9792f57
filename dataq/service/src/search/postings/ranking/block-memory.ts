import { decodedBytes } from "../blocks/codec.ts";

/** A block in shared memory. */
export interface KeptBlock {
  readonly key: string;
  readonly documents: number;
  readonly bytes: number;
  readonly chunk: Chunk;
  /** Where the block begins in its chunk. Changes only while nobody reads the chunk. */
  offset: number;
  /** Since the last turn of its chunk. */
  isUsed: boolean;
}

export interface Chunk {
  readonly id: number;
  readonly memory: SharedArrayBuffer;
  blocks: KeptBlock[];
  usedBytes: number;
  /** How many questions read it now. */
  readers: number;
}

/** What a question reads. It keeps blocks in their places until it is released. */
export class Reading {
  readonly #chunks = new Set<Chunk>();

  get chunks(): ReadonlySet<Chunk> {
    return this.#chunks;
  }

  add(block: KeptBlock): void {
    block.isUsed = true;
    if (this.#chunks.has(block.chunk)) return;
    this.#chunks.add(block.chunk);
    block.chunk.readers++;
  }

  release(): void {
    for (const chunk of this.#chunks) chunk.readers--;
    this.#chunks.clear();
  }
}

/**
 * Decoded blocks in memory that all threads share, so that nothing is copied between them. Blocks are written one after
 * the other into chunks. When all chunks are full, the next one that nobody reads loses the blocks that were not used
 * since its last turn, and the others move to its front. Separate shared buffers would be simpler, but V8 does not count
 * them and so frees them too late.
 */
export class BlockMemory {
  readonly #blocks = new Map<string, KeptBlock>();
  readonly #chunks: Chunk[] = [];
  #mostChunks: number;
  readonly #chunkBytes: number;
  #current: Chunk | undefined;
  #hand = 0;
  #lastId = 0;

  constructor(limitBytes: number, chunkBytes = 4 << 20) {
    this.#chunkBytes = chunkBytes;
    this.#mostChunks = Math.max(1, Math.floor(limitBytes / chunkBytes));
  }

  /** Raises the limit. Memory is taken only when it is needed. */
  allow(limitBytes: number): void {
    this.#mostChunks = Math.max(this.#mostChunks, Math.floor(limitBytes / this.#chunkBytes));
  }

  /** A decoded block. */
  get(key: string): KeptBlock | undefined {
    return this.#blocks.get(key);
  }

  /**
   * Makes room for a block of a segment with `limit` documents, for a question that decodes it. Until it is kept, nobody
   * else can read it: two questions that need it at once both decode it, and neither waits for the other.
   */
  reserve(key: string, documents: number, limit: number, reading: Reading): KeptBlock {
    const bytes = decodedBytes(documents, limit);
    const chunk = this.#roomFor(bytes);
    const block: KeptBlock = { key, documents, bytes, chunk, offset: chunk.usedBytes, isUsed: false };
    chunk.usedBytes += bytes;
    chunk.blocks.push(block);
    reading.add(block);
    return block;
  }

  /** The block was decoded. */
  keep(block: KeptBlock): void {
    if (!this.#blocks.has(block.key)) this.#blocks.set(block.key, block);
  }

  #roomFor(bytes: number): Chunk {
    const hasRoom = (chunk: Chunk) => chunk.usedBytes + bytes <= chunk.memory.byteLength;
    if (this.#current !== undefined && hasRoom(this.#current)) return this.#current;
    if (this.#chunks.length < this.#mostChunks || bytes > this.#chunkBytes) return this.#add(bytes);
    // In the first round every block may have been used.
    for (let turn = 2 * this.#chunks.length; turn > 0; turn--) {
      this.#hand = (this.#hand + 1) % this.#chunks.length;
      const chunk = this.#chunks[this.#hand] as Chunk;
      if (chunk.readers > 0) continue;
      this.#tidy(chunk);
      if (chunk.usedBytes === 0 && this.#chunks.length > this.#mostChunks) {
        this.#chunks.splice(this.#hand, 1);
      } else if (hasRoom(chunk)) {
        this.#current = chunk;
        return chunk;
      }
    }
    // All chunks are being read. The additional one goes when it is empty.
    return this.#add(bytes);
  }

  #add(bytes: number): Chunk {
    const memory = new SharedArrayBuffer(Math.max(this.#chunkBytes, bytes));
    const chunk: Chunk = { id: ++this.#lastId, memory, blocks: [], usedBytes: 0, readers: 0 };
    this.#chunks.push(chunk);
    this.#current = chunk;
    return chunk;
  }

  /** Removes the blocks that were not used since the last turn. */
  #tidy(chunk: Chunk): void {
    const bytes = new Uint8Array(chunk.memory);
    const kept: KeptBlock[] = [];
    let end = 0;
    for (const block of chunk.blocks) {
      if (!block.isUsed) {
        if (this.#blocks.get(block.key) === block) this.#blocks.delete(block.key);
        continue;
      }
      block.isUsed = false;
      if (block.offset !== end) bytes.copyWithin(end, block.offset, block.offset + block.bytes);
      block.offset = end;
      end += block.bytes;
      kept.push(block);
    }
    chunk.blocks = kept;
    chunk.usedBytes = end;
  }
}
