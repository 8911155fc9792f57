import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { TemplateError, TemplateOverBudget, TemplateRefusal } from "../template/limits.ts";
import type { TemplateResults, Templates, TemplateTask, TemplateWork } from "./template-work.ts";

export interface TemplateBudget {
  /** Threads for quick tasks. */
  readonly quickThreads: number;
  /** Threads for slow tasks. */
  readonly slowThreads: number;
  /** Processor time after which a task counts as slow. */
  readonly quickMs: number;
  /** A task with a longer conversation counts as slow from the start. */
  readonly quickChars: number;
  /** Processor time after which a task fails and its thread is ended. */
  readonly processorMs: number;
  /** Heap of one thread, including cached templates. */
  readonly memoryMb: number;
}

/** docs/locallm/templates-and-tools.md names these numbers. */
export const templateBudget: TemplateBudget = {
  quickThreads: 2,
  slowThreads: 2,
  quickMs: 100,
  quickChars: 1_000_000,
  processorMs: 1000,
  memoryMb: 512,
};

/** A task may take this many times its processor time by the clock, because the machine may be busy. */
const clockShare = 5;

/** Includes the total processor time of the thread. */
export type ThreadReport = { readonly processorMs: number } & (
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly result: TemplateResults[keyof TemplateResults] }
  | { readonly kind: "failed" | "refused"; readonly problem: string }
);

interface Job {
  readonly task: TemplateTask;
  resolve(result: never): void;
  reject(error: unknown): void;
  /** The client has left. */
  isLeft: boolean;
}

/**
 * Runs template work in threads, each task within a budget. Every task starts on a quick thread. A task that takes
 * too long there becomes a slow one; if all slow threads are busy, it is ended and started again when one is free.
 * So the wait for a quick thread is bounded by `quickMs`, whatever other clients send.
 */
export class TemplateThreads implements Templates {
  readonly #budget: TemplateBudget;
  readonly #threads = new Set<TemplateThread>();
  readonly #idle: TemplateThread[] = [];
  readonly #quick: Job[] = [];
  readonly #slow: Job[] = [];
  #quickRunning = 0;
  #slowRunning = 0;

  constructor(budget: TemplateBudget = templateBudget) {
    this.#budget = budget;
  }

  /** Starts a thread for the next task. */
  warm(): void {
    if (this.#idle.length === 0) this.#idle.push(this.#newThread());
  }

  async run<Kind extends keyof TemplateWork>(
    kind: Kind,
    work: TemplateWork[Kind],
    signal?: AbortSignal,
  ): Promise<TemplateResults[Kind]> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<TemplateResults[Kind]>();
    const job: Job = { task: { kind, ...work } as TemplateTask, resolve, reject, isLeft: false };
    const leave = () => {
      job.isLeft = true;
      for (const queue of [this.#quick, this.#slow])
        if (queue.includes(job)) queue.splice(queue.indexOf(job), 1);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    const isLarge = charsOf(job.task, this.#budget.quickChars) > this.#budget.quickChars;
    (isLarge ? this.#slow : this.#quick).push(job);
    this.#start();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Ends all threads; running tasks fail. */
  close(): void {
    for (const thread of this.#threads) thread.end();
  }

  #start(): void {
    while (this.#quick.length > 0 && this.#quickRunning < this.#budget.quickThreads)
      void this.#runQuick(this.#quick.shift()!);
    while (this.#slow.length > 0 && this.#slowRunning < this.#budget.slowThreads)
      void this.#runSlow(this.#slow.shift()!);
  }

  async #runQuick(job: Job): Promise<void> {
    this.#quickRunning++;
    const thread = this.#takeThread();
    await thread.begin(job.task);
    const ended = await thread.done(this.#budget.quickMs);
    this.#quickRunning--;
    if (ended === null) this.warm();
    if (ended !== null) this.#settle(job, thread, ended);
    else if (this.#slowRunning < this.#budget.slowThreads && !job.isLeft) {
      this.#slowRunning++;
      void this.#finish(job, thread);
    } else {
      this.#endThread(thread);
      if (!job.isLeft) this.#slow.push(job);
    }
    this.#start();
  }

  async #runSlow(job: Job): Promise<void> {
    this.#slowRunning++;
    const thread = this.#takeThread();
    await thread.begin(job.task);
    await this.#finish(job, thread);
  }

  async #finish(job: Job, thread: TemplateThread): Promise<void> {
    const { processorMs } = this.#budget;
    const ended = await thread.done(processorMs);
    this.#slowRunning--;
    const spent = new TemplateOverBudget(`${processorMs} ms of processor time`);
    this.#settle(job, thread, ended ?? { kind: "lost", error: spent });
    this.#start();
  }

  #settle(job: Job, thread: TemplateThread, ended: Ended): void {
    const isWell = ended.kind !== "lost" && this.#idle.length < this.#budget.quickThreads;
    if (isWell) this.#idle.push(thread);
    else this.#endThread(thread);
    if (ended.kind === "lost") job.reject(ended.error);
    else if (ended.kind === "done") job.resolve(ended.result as never);
    else if (ended.kind === "refused") job.reject(new TemplateRefusal(ended.problem));
    else job.reject(new TemplateError(ended.problem));
  }

  #takeThread(): TemplateThread {
    return this.#idle.pop() ?? this.#newThread();
  }

  #newThread(): TemplateThread {
    const thread = new TemplateThread(this.#budget);
    this.#threads.add(thread);
    return thread;
  }

  #endThread(thread: TemplateThread): void {
    this.#threads.delete(thread);
    thread.end();
  }
}

/** Stops counting above `most`. */
function charsOf(task: TemplateTask, most: number): number {
  if (task.kind === "insert") return task.prompt.length + task.suffix.length;
  if (task.kind !== "render") return 0;
  let chars = 0;
  for (const { content, thinking = "" } of task.turn.messages) {
    chars += content.length + thinking.length;
    if (chars > most) break;
  }
  return chars;
}

/** The outcome of a task. After `lost` the thread cannot be used again. */
type Ended = Exclude<ThreadReport, { kind: "ready" }> | { readonly kind: "lost"; readonly error: unknown };

/** One thread and its current task. */
class TemplateThread {
  readonly #worker: Worker;
  readonly #ready = Promise.withResolvers<void>();
  #ended = Promise.withResolvers<Ended>();
  #failure: unknown = null;
  #beganMs = 0;
  /** The thread's total processor time before the current task. */
  #idleProcessorMs = 0;

  constructor({ memoryMb }: TemplateBudget) {
    // Node runs the source directly; the published package contains JavaScript.
    const file = import.meta.url.endsWith(".ts") ? "./template-thread.ts" : "./template-thread.js";
    this.#worker = new Worker(fileURLToPath(new URL(file, import.meta.url)), {
      name: "locallm templates",
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
    });
    this.#worker.on("message", (report: ThreadReport) => {
      this.#idleProcessorMs = report.processorMs;
      if (report.kind === "ready") this.#ready.resolve();
      else this.#ended.resolve(report);
    });
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      this.#fail(isMemory ? new TemplateOverBudget(`${memoryMb} MB of memory`) : error);
    });
    this.#worker.on("exit", () => this.#fail(new Error("the thread that renders templates ended")));
    this.#worker.unref();
  }

  async begin(task: TemplateTask): Promise<void> {
    this.#worker.ref();
    this.#ended = Promise.withResolvers();
    await this.#ready.promise;
    this.#beganMs = performance.now();
    if (this.#failure !== null) this.#ended.resolve({ kind: "lost", error: this.#failure });
    else this.#post(task);
  }

  /** Returns null when the task has used its processor time, or far more time by the clock, and is not done. */
  async done(processorMs: number): Promise<Ended | null> {
    for (let waitMs = processorMs; waitMs > 0; ) {
      const ended = await this.#within(waitMs);
      if (ended !== null) return ended;
      const leftMs = processorMs - (await this.#processorMs());
      const clockLeftMs = processorMs * clockShare - (performance.now() - this.#beganMs);
      waitMs = leftMs <= 0 ? 0 : Math.min(Math.max(leftMs, 10), clockLeftMs);
    }
    return null;
  }

  end(): void {
    void this.#worker.terminate();
  }

  async #within(ms: number): Promise<Ended | null> {
    const { promise: over, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(() => resolve(null), ms);
    const ended = await Promise.race([this.#ended.promise, over]);
    clearTimeout(timer);
    if (ended !== null) this.#worker.unref();
    return ended;
  }

  /** Of the current task; infinite if the thread does not answer because it is inside one long call. */
  async #processorMs(): Promise<number> {
    const { promise: silent, resolve } = Promise.withResolvers<number>();
    const timer = setTimeout(() => resolve(Number.POSITIVE_INFINITY), 50);
    const told = this.#worker.cpuUsage().then(
      ({ user, system }) => (user + system) / 1000 - this.#idleProcessorMs,
      () => Number.POSITIVE_INFINITY,
    );
    const used = await Promise.race([told, silent]);
    clearTimeout(timer);
    return used;
  }

  #post(task: TemplateTask): void {
    try {
      this.#worker.postMessage(task);
    } catch (cause) {
      // The conversation is nested too deeply to be copied; the thread itself is unaffected.
      const problem = `cannot take this conversation: ${(cause as Error).message}`;
      this.#ended.resolve({ kind: "failed", problem, processorMs: this.#idleProcessorMs });
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#ready.resolve();
    this.#ended.resolve({ kind: "lost", error: this.#failure });
  }
}
