import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { Failure } from "@dataq/contract";
import type { OpenSnapshot } from "../../snapshots/open-snapshot.ts";
import type { Chunk } from "./block-memory.ts";
import type { FromRank, RankMessage, ToRank } from "./rank-worker.ts";

export interface RankThreadsOptions {
  readonly threads?: number;
  /** How many questions may wait for a thread. */
  readonly mostWaiting?: number;
  /** How long a question may take, including its wait. */
  readonly limitMs?: number;
}

/** A question and the shared memory that it names. */
export interface RankWork {
  readonly message: Omit<RankMessage, "ask" | "limitMs" | "snapshot">;
  readonly snapshot: OpenSnapshot;
  readonly chunks: ReadonlySet<Chunk>;
}

interface Job extends RankWork {
  readonly until: number;
  readonly resolve: (answer: NonNullable<FromRank["answer"]>) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

interface Thread {
  readonly worker: Worker;
  readonly snapshots: Set<number>;
  readonly chunks: Set<number>;
  job: Job | undefined;
}

/**
 * The threads that rank, so that calls never wait behind somebody's search. Each answers one question at a time. A
 * question fails free of charge if too many wait, if its time is up, or if its thread dies. Another thread then takes the
 * place of the dead one.
 */
export class RankThreads {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #limitMs: number;
  readonly #threads = new Set<Thread>();
  #waiting: Job[] = [];
  #last = 0;

  constructor({ threads, mostWaiting = 64, limitMs = 5_000 }: RankThreadsOptions = {}) {
    this.#most = threads ?? Math.max(1, Math.min(mostThreads, availableParallelism() - 1));
    this.#mostWaiting = mostWaiting;
    this.#limitMs = limitMs;
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  run(work: RankWork): Promise<NonNullable<FromRank["answer"]>> {
    if (this.#waiting.length >= this.#mostWaiting)
      return Promise.reject(failed("Too many searches wait to be ranked."));
    return new Promise((resolve, reject) => {
      const job: Job = {
        ...work,
        until: performance.now() + this.#limitMs,
        resolve,
        reject,
        timer: setTimeout(() => this.#leave(job), this.#limitMs),
      };
      this.#waiting.push(job);
      this.#next();
    });
  }

  /** Starts a thread, so that the first question does not wait for it. */
  start(): void {
    if (this.#threads.size === 0) this.#add();
  }

  /** The threads let go of a snapshot that nobody reads any more. */
  forget(snapshot: number): void {
    for (const thread of this.#threads)
      if (thread.snapshots.delete(snapshot)) tell(thread, { close: snapshot });
  }

  async close(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const job of waiting) fail(job, failed("The service stops."));
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const idle = [...this.#threads].find(({ job }) => job === undefined);
      if (idle === undefined && this.#threads.size >= this.#most) return;
      this.#give(idle ?? this.#add(), this.#waiting.shift() as Job);
    }
  }

  #give(thread: Thread, job: Job): void {
    const { message, snapshot, chunks } = job;
    if (!thread.snapshots.has(snapshot.id)) {
      const segments = snapshot.segments.map(({ dead, ...segment }) => ({
        ...segment,
        dead: dead?.bytes ?? null,
      }));
      tell(thread, { snapshot: { id: snapshot.id, segments } });
      thread.snapshots.add(snapshot.id);
    }
    for (const { id, memory } of chunks) {
      if (thread.chunks.has(id)) continue;
      tell(thread, { chunk: id, memory });
      thread.chunks.add(id);
    }
    thread.job = job;
    thread.worker.ref();
    const limitMs = Math.max(0, job.until - performance.now());
    clearTimeout(job.timer);
    // A thread looks at the time itself. This ends one that does not.
    job.timer = setTimeout(() => void thread.worker.terminate(), limitMs + graceMs);
    const places = message.places.flatMap((each) => [...each.values()]);
    const transfer = [message.stored, message.blocks, ...places].map(({ buffer }) => buffer as ArrayBuffer);
    tell(thread, { ...message, ask: ++this.#last, snapshot: snapshot.id, limitMs }, transfer);
  }

  #add(): Thread {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./rank-worker.${extension}`, import.meta.url));
    const thread: Thread = { worker, snapshots: new Set(), chunks: new Set(), job: undefined };
    this.#threads.add(thread);
    worker.unref();
    worker.on("message", ({ answer, failed: failure }: FromRank) => {
      const { job } = thread;
      thread.job = undefined;
      worker.unref();
      if (job !== undefined) {
        if (answer !== undefined) settle(job, () => job.resolve(answer));
        else fail(job, failure?.isLate ? failed(failure.why) : new Error(failure?.why));
      }
      this.#next();
    });
    // Without a listener the error would end the process; `exit` follows.
    let reason = "The thread that ranks has ended.";
    worker.on("error", (error) => {
      reason = `The thread that ranks has ended: ${(error as Error).message}`;
    });
    worker.on("exit", () => {
      this.#threads.delete(thread);
      if (thread.job !== undefined) fail(thread.job, failed(reason));
      this.#next();
    });
    return thread;
  }

  #leave(job: Job): void {
    this.#waiting = this.#waiting.filter((each) => each !== job);
    fail(job, failed("No thread was free to rank the question in time."));
  }
}

const mostThreads = 4;
const graceMs = 2_000;

function tell({ worker }: Thread, told: ToRank, transfer: readonly ArrayBuffer[] = []): void {
  worker.postMessage(told, transfer);
}

function settle(job: Job, how: () => void): void {
  clearTimeout(job.timer);
  how();
}

function fail(job: Job, error: Error): void {
  settle(job, () => job.reject(error));
}

/** Nothing is charged for it. */
export function failed(why: string): Failure {
  return new Failure("unavailable", { retry_after: 1 }, new Error(why));
}
