import { type FileHandle, open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Digest } from "../library/digest.ts";
import { requireSpace } from "../library/disk-space.ts";
import { writeDurably } from "../library/durable.ts";
import { FileHash } from "./file-hash.ts";
import type { ByteRange, TransferLimits, TransferRequest } from "./transfer-request.ts";

interface Part extends ByteRange {
  completedBytes: number;
}

/** The size of one part's entry in `done`. */
const entryBytes = 8;

/**
 * An unfinished download on disk: `data` (sparse until complete), `state.json` (key, size, part length, the
 * system's boot ID) and `done` (the number of bytes written of each part, 8 bytes per part). After a power
 * failure, `done` may claim more than `data` contains; the digest reveals that.
 */
export class PartialFile {
  readonly parts: Part[];
  #data: FileHandle;
  #done: FileHandle;
  #noted: number[];
  #hash: FileHash;
  #sizeBytes: number;

  static async open(folder: string, request: TransferRequest, limits: TransferLimits): Promise<PartialFile> {
    const { key, sizeBytes } = request;
    let partBytes = usualPartBytes(sizeBytes, limits);
    const state = await readState(folder);
    const boot = await bootMark();
    // Without a digest, data lost in a power failure goes unnoticed, so such a file is resumed only in the same boot.
    const isSafe = request.expected !== null || state?.boot === boot;
    const usable = state !== null && isSafe && state.key === key && state.sizeBytes === sizeBytes;
    if (usable) {
      partBytes = state.partBytes;
    } else {
      await rm(join(folder, "done"), { force: true });
      await requireSpace(folder, sizeBytes);
      const begun = JSON.stringify({ key, sizeBytes, partBytes, boot });
      await writeDurably(join(folder, "state.json"), begun, folder);
    }
    const data = await open(join(folder, "data"), usable ? "a" : "w");
    await data.close();
    const writable = await open(join(folder, "data"), "r+");
    await writable.truncate(sizeBytes);
    const done = await open(join(folder, "done"), "a").then(async (created) => {
      await created.close();
      return await open(join(folder, "done"), "r+");
    });
    const notes = await done.readFile();
    const parts: Part[] = [];
    for (let start = 0; start < sizeBytes; start += partBytes) {
      const end = Math.min(start + partBytes, sizeBytes);
      const at = parts.length * entryBytes;
      const noted = at + entryBytes <= notes.length ? Number(notes.readBigUInt64LE(at)) : 0;
      parts.push({ start, end, completedBytes: noted <= end - start ? noted : 0 });
    }
    return new PartialFile(writable, done, parts, sizeBytes, new FileHash(join(folder, "data"), sizeBytes));
  }

  private constructor(data: FileHandle, done: FileHandle, parts: Part[], sizeBytes: number, hash: FileHash) {
    this.#hash = hash;
    this.#data = data;
    this.#done = done;
    this.parts = parts;
    this.#noted = parts.map((part) => part.completedBytes);
    this.#sizeBytes = sizeBytes;
  }

  get completedBytes(): number {
    return this.parts.reduce((sum, part) => sum + part.completedBytes, 0);
  }

  async write(index: number, pieces: Buffer[]): Promise<void> {
    const part = this.parts[index];
    if (part === undefined) return;
    part.completedBytes += await writeAll(this.#data, pieces, part.start + part.completedBytes);
    this.#hash.advance(this.#wholeBytes());
    await this.#note(index);
  }

  /** Replaces all parts with one that spans the whole file. */
  async startOver(): Promise<void> {
    this.parts.splice(0, this.parts.length, { start: 0, end: this.#sizeBytes, completedBytes: 0 });
    this.#noted = [0];
    this.#hash.startOver();
    await this.#done.truncate(0);
  }

  /** Flushes the file to disk while the rest of it is hashed. */
  async digest(signal: AbortSignal): Promise<Digest> {
    this.#hash.advance(this.#sizeBytes);
    const [digest] = await Promise.all([this.#hash.digest(signal), this.#data.sync()]);
    return digest;
  }

  async close(): Promise<void> {
    this.#hash.close();
    for (const index of this.parts.keys()) await this.#note(index);
    await this.#data.close();
    await this.#done.close();
  }

  /** The number of bytes before the first gap. */
  #wholeBytes(): number {
    let end = 0;
    for (const part of this.parts) {
      end = part.start + part.completedBytes;
      if (end < part.end) break;
    }
    return end;
  }

  async #note(index: number): Promise<void> {
    const completed = this.parts[index]?.completedBytes ?? 0;
    if (this.#noted[index] === completed) return;
    const bytes = Buffer.alloc(entryBytes);
    bytes.writeBigUInt64LE(BigInt(completed));
    await this.#done.write(bytes, 0, entryBytes, index * entryBytes);
    this.#noted[index] = completed;
  }
}

/**
 * Returns the usual size of a part. Parts are small, because the hash needs the bytes in order and must not
 * fall far behind.
 */
function usualPartBytes(sizeBytes: number, { parts, partMinBytes, partMaxBytes }: TransferLimits): number {
  const even = Math.ceil(sizeBytes / (8 * parts));
  return Math.max(1, Math.min(Math.max(even, partMinBytes), partMaxBytes, sizeBytes));
}

/** Writes all pieces, even if the system accepts fewer bytes per call. Returns the number of bytes. */
async function writeAll(file: FileHandle, pieces: Buffer[], position: number): Promise<number> {
  const sizeBytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  let left = pieces;
  for (let written = 0; written < sizeBytes; ) {
    let { bytesWritten } = await file.writev(left, position + written);
    written += bytesWritten;
    if (written === sizeBytes) break;
    while (bytesWritten >= (left[0]?.length ?? Number.POSITIVE_INFINITY)) {
      bytesWritten -= left[0]?.length ?? 0;
      left = left.slice(1);
    }
    left = left.map((piece, index) => (index === 0 ? piece.subarray(bytesWritten) : piece));
  }
  return sizeBytes;
}

/** Identifies the boot on Linux; constant on other systems. */
async function bootMark(): Promise<string> {
  return await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
}

async function readState(folder: string) {
  try {
    const state: unknown = JSON.parse(await readFile(join(folder, "state.json"), "utf8"));
    const { key, sizeBytes, partBytes, boot } = state as Record<string, unknown>;
    if (typeof sizeBytes !== "number" || typeof partBytes !== "number" || !(partBytes >= 1)) return null;
    return { key, sizeBytes, partBytes, boot };
  } catch {
    return null;
  }
}

/** Whether the folder has a state to resume from. */
export async function hasState(folder: string): Promise<boolean> {
  return (await stat(join(folder, "state.json")).catch(() => null)) !== null;
}

/** The completed bytes of another process's download in that folder. */
export async function completedBytes(folder: string): Promise<number> {
  const notes = await readFile(join(folder, "done")).catch(() => Buffer.alloc(0));
  let sum = 0;
  for (let at = 0; at + entryBytes <= notes.length; at += entryBytes)
    sum += Number(notes.readBigUInt64LE(at));
  return sum;
}
