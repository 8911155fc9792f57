import type { FileHandle } from "node:fs/promises";
import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";

const chunkBytes = 512 * 1024;

/**
 * Reads a file sequentially in chunks. Callers await `need(n)`, which reads the disk only when the chunk is used up, and
 * then take the bytes synchronously.
 */
export class ForwardReader {
  readonly sizeBytes: number;
  #file: FileHandle;
  /** Holds all chunks in turn, because new memory for each would stay taken until it is collected. */
  #buffer: Buffer = Buffer.alloc(0);
  #chunk: Buffer = Buffer.alloc(0);
  #chunkStart = 0;
  #at = 0;

  constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  /** File offset of the next byte. */
  get offset(): number {
    return this.#chunkStart + this.#at;
  }

  /** Number of bytes that can be taken without calling `need`. */
  get ready(): number {
    return this.#chunk.length - this.#at;
  }

  async need(bytes: number): Promise<void> {
    if (this.ready < bytes) await this.#fill(bytes);
  }

  async skip(bytes: number): Promise<void> {
    this.#checkEnd(bytes);
    if (bytes <= this.ready) {
      this.#at += bytes;
      return;
    }
    this.#chunkStart = this.offset + bytes;
    this.#chunk = Buffer.alloc(0);
    this.#at = 0;
  }

  u8(): number {
    return this.#chunk.readUInt8(this.#advance(1));
  }
  i8(): number {
    return this.#chunk.readInt8(this.#advance(1));
  }
  u16(): number {
    return this.#chunk.readUInt16LE(this.#advance(2));
  }
  i16(): number {
    return this.#chunk.readInt16LE(this.#advance(2));
  }
  u32(): number {
    return this.#chunk.readUInt32LE(this.#advance(4));
  }
  i32(): number {
    return this.#chunk.readInt32LE(this.#advance(4));
  }
  f32(): number {
    return this.#chunk.readFloatLE(this.#advance(4));
  }
  f64(): number {
    return this.#chunk.readDoubleLE(this.#advance(8));
  }
  i64(): bigint {
    return this.#chunk.readBigInt64LE(this.#advance(8));
  }
  u64(): bigint {
    return this.#chunk.readBigUInt64LE(this.#advance(8));
  }

  /** Returns a view into the chunk: copy or decode it before the next `need`. */
  take(bytes: number): Buffer {
    const from = this.#advance(bytes);
    return this.#chunk.subarray(from, from + bytes);
  }

  #advance(bytes: number): number {
    const from = this.#at;
    this.#at += bytes;
    return from;
  }

  #checkEnd(bytes: number): void {
    if (bytes > this.sizeBytes - this.offset) {
      throw new LocallmError("invalid_gguf", {
        rule: `the file ends inside its header (${counted(this.sizeBytes, "byte")})`,
      });
    }
  }

  async #fill(bytes: number): Promise<void> {
    this.#checkEnd(bytes);
    const left = this.#chunk.subarray(this.#at);
    const wanted = Math.min(Math.max(chunkBytes, bytes), this.sizeBytes - this.offset);
    if (wanted > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(wanted);
    const chunk = this.#buffer;
    left.copy(chunk);
    let filled = left.length;
    const start = this.offset;
    while (filled < bytes) {
      const { bytesRead } = await this.#file.read(chunk, filled, wanted - filled, start + filled);
      if (bytesRead === 0) {
        throw new LocallmError("invalid_gguf", { rule: "the file was truncated while being read" });
      }
      filled += bytesRead;
    }
    this.#chunk = chunk.subarray(0, filled);
    this.#chunkStart = start;
    this.#at = 0;
  }
}
