import { createHash, type Hash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { type Digest, digestFromHex } from "../library/digest.ts";
import { unlessAborted } from "../wire/unless-aborted.ts";

/** For smaller files a thread costs more than it saves. */
const threadFromBytes = 16 * 1024 * 1024;
/** The thread is notified at most once per this many bytes. */
const stepBytes = 1024 * 1024;

/**
 * Computes the sha256 of a file while it is being written, up to the first gap. Hashes a large file in a
 * separate thread, so that the digest is ready shortly after the last byte. Reads the bytes back from the
 * file, so that the digest covers what is on disk.
 */
export class FileHash {
  readonly #path: string;
  readonly #sizeBytes: number;
  #thread: HashThread | null = null;
  #toldBytes = 0;
  #wholeBytes = 0;

  constructor(path: string, sizeBytes: number) {
    this.#path = path;
    this.#sizeBytes = sizeBytes;
  }

  /**
   * Reports that the file has no gap before `wholeBytes`. A smaller value than before means that the file is
   * being rewritten.
   */
  advance(wholeBytes: number): void {
    if (wholeBytes < this.#toldBytes) this.startOver();
    this.#wholeBytes = wholeBytes;
    if (this.#sizeBytes < threadFromBytes) return;
    if (wholeBytes - this.#toldBytes < stepBytes && wholeBytes !== this.#sizeBytes) return;
    this.#toldBytes = wholeBytes;
    this.#thread ??= new HashThread(this.#path);
    this.#thread.read(wholeBytes);
  }

  /** Discards the hash so far. */
  startOver(): void {
    this.close();
    this.#toldBytes = 0;
    this.#wholeBytes = 0;
  }

  /** The digest of all bytes before the first gap. */
  async digest(signal: AbortSignal): Promise<Digest> {
    if (this.#thread !== null) return digestFromHex(await this.#thread.digest(signal));
    const reading = new ReadHash(this.#path);
    try {
      reading.read(this.#wholeBytes);
      return digestFromHex(reading.digest());
    } finally {
      reading.close();
    }
  }

  close(): void {
    this.#thread?.close();
    this.#thread = null;
  }
}

export type HashOrder = { path: string } | { upToBytes: number } | "digest";

class HashThread {
  readonly #worker: Worker;
  readonly #answer: Promise<string>;

  constructor(path: string) {
    // The source is TypeScript, the published package JavaScript.
    const file = import.meta.url.endsWith(".ts") ? "./hash-thread.ts" : "./hash-thread.js";
    this.#worker = new Worker(fileURLToPath(new URL(file, import.meta.url)), {
      name: "locallm hash",
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
    });
    this.#answer = new Promise((resolve, reject) => {
      this.#worker.once("message", resolve);
      this.#worker.once("error", reject);
      this.#worker.once("exit", () => reject(new Error("the thread that hashes ended")));
    });
    this.#answer.catch(() => {});
    this.#worker.unref();
    this.#order({ path });
  }

  read(upToBytes: number): void {
    this.#order({ upToBytes });
  }

  async digest(signal: AbortSignal): Promise<string> {
    this.#worker.ref();
    this.#order("digest");
    return await unlessAborted(this.#answer, signal);
  }

  close(): void {
    void this.#worker.terminate();
  }

  #order(order: HashOrder): void {
    this.#worker.postMessage(order);
  }
}

/** Hashes a growing file. Blocks while it reads. */
export class ReadHash {
  readonly #file: number;
  readonly #hash: Hash = createHash("sha256");
  readonly #chunk: Buffer = Buffer.allocUnsafe(1024 * 1024);
  #readBytes = 0;

  constructor(path: string) {
    this.#file = openSync(path, "r");
  }

  read(upToBytes: number): void {
    while (this.#readBytes < upToBytes) {
      const length = Math.min(this.#chunk.length, upToBytes - this.#readBytes);
      const got = readSync(this.#file, this.#chunk, 0, length, this.#readBytes);
      if (got === 0) return;
      this.#hash.update(this.#chunk.subarray(0, got));
      this.#readBytes += got;
    }
  }

  digest(): string {
    return this.#hash.digest("hex");
  }

  close(): void {
    closeSync(this.#file);
  }
}
