import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Analyser } from "../../analysis/analyser.ts";
import { type Part, PartBuilder, type PlainDocument } from "./part-builder.ts";
import type { PartWorkerData } from "./part-worker.ts";

/** How a build is spread over threads. */
export interface CutOptions {
  /** Each takes about 250 MB while a build runs. */
  readonly threads: number;
  /** The first documents of a build are cut in this thread, because starting others takes half a second. */
  readonly here: number;
  /** Documents of a part. */
  readonly part: number;
}

export const usualCut: CutOptions = { threads: Math.min(2, availableParallelism()), here: 2_000, part: 400 };

/** Cuts the documents of a build, in threads if there are many. Threads take turns, so each has its own parts. */
export class PartThreads {
  readonly #analyser: Analyser;
  readonly #options: CutOptions;
  readonly #own: PartBuilder;
  readonly #workers: Worker[] = [];
  /** For each worker the parts that it owes, in order. */
  readonly #owed = new Map<Worker, { resolve: (part: Part) => void; reject: (error: Error) => void }[]>();
  #documents = 0;
  #turn = 0;

  constructor(analyser: Analyser, options: CutOptions) {
    this.#analyser = analyser;
    this.#options = options;
    this.#own = new PartBuilder(analyser);
  }

  /** How many documents the next part should have. While they are cut in this thread, parts are short. */
  get partSize(): number {
    return this.#isHere() ? partSizeHere : this.#options.part;
  }

  /** How many parts may be cut or wait at once. */
  get mostParts(): number {
    return this.#isHere() ? 1 : partsPerThread * this.#options.threads;
  }

  build(documents: readonly PlainDocument[]): Promise<Part> {
    const isHere = this.#isHere();
    this.#documents += documents.length;
    if (isHere) return Promise.resolve(this.#own.build(documents));
    const place = this.#turn++ % this.#options.threads;
    this.#workers[place] ??= this.#start();
    const worker = this.#workers[place];
    return new Promise((resolve, reject) => {
      this.#owed.get(worker)?.push({ resolve, reject });
      worker.postMessage(documents);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #isHere(): boolean {
    return this.#options.threads < 2 || this.#documents < this.#options.here;
  }

  #start(): Worker {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const { version, words } = this.#analyser;
    const worker = new Worker(new URL(`./part-worker.${extension}`, import.meta.url), {
      workerData: { version, words } satisfies PartWorkerData,
    });
    this.#owed.set(worker, []);
    const fail = (error: Error) => {
      for (const { reject } of this.#owed.get(worker)?.splice(0) ?? []) reject(error);
    };
    worker.on("message", (part: Part) => this.#owed.get(worker)?.shift()?.resolve(part));
    worker.on("error", (error) => fail(error as Error));
    worker.on("exit", () => fail(new Error("A thread that cuts documents has ended.")));
    return worker;
  }
}

const partSizeHere = 50;
/** While a segment is written, threads cut this far ahead. */
const partsPerThread = 3;
