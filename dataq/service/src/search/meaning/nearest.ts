import { Worker } from "node:worker_threads";
import type { Queries } from "../../database/database.ts";
import type { Compared, FromNearest, ToNearest } from "./nearest-worker.ts";
import { packedBytes } from "./vector.ts";
import { blocksOf } from "./vector-blocks.ts";

/** A segment to compare. `allowed` has a bit for each ordinal; undefined allows all. */
export interface Comparable {
  readonly id: number;
  readonly documents: number;
  readonly allowed: Uint8Array | undefined;
}

interface Kept {
  readonly number: number;
  readonly bytes: number;
  readonly loading: Promise<void>;
}

export interface NearestOptions {
  /** Memory for the vectors of segments. Those of further segments are read for each question. */
  readonly keptBytes?: number;
}

/** Finds the documents nearest to a vector, exactly: a thread compares every one of them, block by block. */
export class Nearest {
  readonly #queries: Queries;
  readonly #keptBytes: number;
  #worker: Worker | undefined;
  /** Segments in the thread's memory, the one used last at the end. */
  readonly #kept = new Map<string, Kept>();
  readonly #waiting = new Map<number, (compared: Compared | Error) => void>();
  #last = 0;

  constructor(queries: Queries, { keptBytes = 256 << 20 }: NearestOptions = {}) {
    this.#queries = queries;
    this.#keptBytes = keptBytes;
  }

  /** The `most` nearest documents. Rejects when the signal aborts. */
  async find(
    model: string,
    segments: readonly Comparable[],
    vector: Float32Array,
    most: number,
    signal: AbortSignal,
  ): Promise<Compared> {
    signal.throwIfAborted();
    const worker = this.#running();
    const tell = (told: ToNearest, transfer: ArrayBuffer[] = []) => worker.postMessage(told, transfer);
    const question = ++this.#last;
    const answered = new Promise<Compared>((resolve, reject) => {
      this.#waiting.set(question, (compared) =>
        compared instanceof Error ? reject(compared) : resolve(compared),
      );
    });
    const stop = () => {
      tell({ cancel: question });
      this.#waiting.get(question)?.(new Error("The comparison of vectors took too long."));
      this.#waiting.delete(question);
    };
    signal.addEventListener("abort", stop, { once: true });
    answered.catch(() => {});
    try {
      tell({ begin: question, vector, most });
      const isAsked = new Set(segments.map(({ id }) => `${model} ${id}`));
      for (const segment of segments) {
        if (signal.aborted) break;
        const { id, allowed } = segment;
        const kept = await this.#keep(model, segment, vector.length, isAsked, tell);
        if (kept !== undefined) {
          tell({ ask: question, segment: id, allowed, kept });
          continue;
        }
        await this.#read(model, segment, vector.length, (block, vectors) => {
          tell({ ask: question, segment: id, allowed, block, vectors }, [vectors.buffer as ArrayBuffer]);
          return !signal.aborted;
        });
      }
      tell({ end: question });
      return await answered;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#waiting.delete(question);
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#fail(new Error("The service stops."));
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./nearest-worker.${extension}`, import.meta.url));
    this.#worker = worker;
    worker.unref();
    worker.on("message", ({ question, found }: FromNearest) =>
      this.#waiting.get(question)?.(found ?? new Error("Vectors were dropped during the comparison.")),
    );
    // The next question starts another thread.
    worker.on("error", (error) => this.#fail(error as Error));
    worker.on("exit", () => this.#fail(new Error("The thread that compares vectors has ended.")));
    return worker;
  }

  #fail(error: Error): void {
    this.#worker = undefined;
    this.#kept.clear();
    for (const settle of this.#waiting.values()) settle(error);
    this.#waiting.clear();
  }

  /** The number under which the thread keeps the segment, after loading it; undefined if it does not fit into memory. */
  async #keep(
    model: string,
    segment: Comparable,
    dimension: number,
    isAsked: ReadonlySet<string>,
    tell: (told: ToNearest, transfer: ArrayBuffer[]) => void,
  ): Promise<number | undefined> {
    const key = `${model} ${segment.id}`;
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      await known.loading;
      return known.number;
    }
    const bytes = segment.documents * packedBytes(dimension);
    for (const [other, { number }] of this.#kept) {
      if (this.#bytes() + bytes <= this.#keptBytes) break;
      if (isAsked.has(other)) continue;
      this.#kept.delete(other);
      tell({ drop: number }, []);
    }
    if (this.#bytes() + bytes > this.#keptBytes) return undefined;
    const number = ++this.#last;
    const loading = this.#read(model, segment, dimension, (block, vectors) => {
      tell({ keep: number, block, vectors }, [vectors.buffer as ArrayBuffer]);
      return true;
    });
    this.#kept.set(key, { number, bytes, loading });
    try {
      await loading;
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
    return number;
  }

  #bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#kept.values()) sum += bytes;
    return sum;
  }

  /** Reads the blocks of a segment until `visit` returns false. */
  async #read(
    model: string,
    segment: Pick<Comparable, "id" | "documents">,
    dimension: number,
    visit: (block: number, vectors: Uint8Array) => boolean,
  ): Promise<void> {
    for (let from = 0; from < blocksOf(segment); from += blocksAtOnce) {
      const rows = await this.#queries.query<{ block: number; vectors: Buffer }>({
        name: "search-vectors",
        text: `select block, vectors from search_vector_block
                where segment = $1 and model = $2 and block >= $3 and block < $4 and dimension = $5 order by block`,
        values: [segment.id, model, from, from + blocksAtOnce, dimension],
      });
      // A copy, because the driver's buffers share memory and cannot be handed over.
      for (const { block, vectors } of rows.rows) if (!visit(block, Uint8Array.from(vectors))) return;
    }
  }
}

const blocksAtOnce = 32;
