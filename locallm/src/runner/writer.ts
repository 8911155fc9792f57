import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Writing, writeNow } from "./writing.ts";

/** A thread takes 10 MB, so it ends when it has had nothing to write for so long. */
const idleMs = 10_000;

/**
 * Writes lines to lent connections from a thread of its own. To write wakes the client's process, often on the core
 * that writes: on the thread that computes, each line would put off the next step.
 */
export class Writer {
  readonly #idleMs: number;
  #thread: WriterThread | null = null;
  readonly #filled = new Set<Lines>();
  /** How many connections have lines. */
  #open = 0;
  #idle: NodeJS.Timeout | null = null;

  constructor(idle = idleMs) {
    this.#idleMs = idle;
  }

  /** The lines of a connection, in order. Close them before the connection. */
  open(fd: number): Lines {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#open++;
    this.#thread ??= new WriterThread();
    const thread = this.#thread;
    const place = thread.free.pop() ?? null;
    return new Lines(thread.writing, fd, place, {
      filled: (lines) => void this.#filled.add(lines),
      closed: (lines) => {
        this.#filled.delete(lines);
        if (place !== null) thread.free.push(place);
        if (--this.#open === 0) this.#idle = setTimeout(() => this.close(), this.#idleMs).unref();
      },
    });
  }

  /** Begins to write what was added since the last call. */
  flush(): void {
    if (this.#filled.size === 0) return;
    for (const lines of this.#filled) lines.leave();
    this.#filled.clear();
    this.#thread?.writing.wake();
  }

  /** Whether its thread has begun. Until then, lines are written by the thread that adds them. */
  get isReady(): boolean {
    return this.#thread?.writing.isReady ?? false;
  }

  /** Ends the thread. No lines may be open. */
  close(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#thread?.end();
    this.#thread = null;
  }
}

/** Lines that are written to one connection, in order, as long as it takes them. */
export class Lines {
  readonly #writing: Writing;
  readonly #fd: number;
  /** Null if there are too many connections: these are written to by this thread. */
  readonly #place: number | null;
  readonly #told: LinesTold;
  /** The bytes in the place that are not yet left to the other thread. */
  #length = 0;
  #isLeft = false;
  #rest: Uint8Array | null = null;

  constructor(writing: Writing, fd: number, place: number | null, told: LinesTold) {
    this.#writing = writing;
    this.#fd = fd;
    this.#place = place;
    this.#told = told;
  }

  /** Returns false, and takes nothing, if the lines before were not written whole. */
  add(bytes: Uint8Array): boolean {
    if (this.#isCut()) return false;
    if (this.#place !== null && this.#writing.isReady) {
      if (this.#writing.add(this.#place, bytes, this.#length)) {
        if (this.#length === 0) this.#told.filled(this);
        this.#length += bytes.length;
        return true;
      }
      this.#settle();
      if (this.#rest !== null) return false;
    }
    const written = writeNow(this.#fd, bytes);
    if (written < bytes.length) this.#rest = bytes.slice(written);
    return true;
  }

  /** Leaves the place to the thread that writes. */
  leave(): void {
    if (this.#place === null || this.#length === 0) return;
    this.#writing.fill(this.#place, this.#fd, this.#length);
    this.#length = 0;
    this.#isLeft = true;
  }

  /** Waits until all is written. Returns what the connection did not take. */
  close(): Uint8Array | null {
    this.#settle();
    this.#told.closed(this);
    return this.#rest;
  }

  #isCut(): boolean {
    if (this.#isLeft && this.#place !== null) {
      this.#rest = this.#writing.settle(this.#place);
      this.#isLeft = false;
    }
    return this.#rest !== null;
  }

  #settle(): void {
    if (this.#length > 0) {
      this.leave();
      this.#writing.wake();
    }
    this.#isCut();
  }
}

interface LinesTold {
  filled(lines: Lines): void;
  closed(lines: Lines): void;
}

class WriterThread {
  readonly writing = new Writing();
  readonly free = Array.from({ length: Writing.places }, (_, place) => Writing.places - 1 - place);

  constructor() {
    // The source is TypeScript, the published package JavaScript.
    const file = import.meta.url.endsWith(".ts") ? "./writing-thread.ts" : "./writing-thread.js";
    const worker = new Worker(fileURLToPath(new URL(file, import.meta.url)), {
      name: "locallm writer",
      workerData: this.writing.memory,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
    });
    worker.unref();
  }

  /** The thread ends by itself: Node can break when a thread is terminated while it starts. */
  end(): void {
    this.writing.end();
  }
}
