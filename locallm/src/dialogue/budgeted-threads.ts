import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

export interface ThreadBudget {
  /** Threads for quick tasks. */
  readonly quickThreads: number;
  /** Threads for slow tasks. */
  readonly slowThreads: number;
  /** Processor time after which a task counts as slow. */
  readonly quickMs: number;
  /** Processor time after which a task fails and its thread is ended. */
  readonly processorMs: number;
  /** Heap of one thread, including what it caches. */
  readonly memoryMb: number;
  /** A thread without work ends after this time; see `keepLonger`. */
  readonly idleMs: number;
}

/** A task may take this many times its processor time in wall-clock time, because the machine may be busy. */
const clockShare = 5;
/** The same factor for quick threads. It is lower because other tasks wait for these threads. */
const quickClockShare = 2;

/** What a thread sends back. It includes the total processor time of the thread. */
export type ThreadReport<Result, Fault> = { readonly processorMs: number } & (
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly fault: Fault }
);

/** How a task ended. `over_budget` names the limit. */
export type TaskOutcome<Result, Fault> =
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly fault: Fault }
  | { readonly kind: "over_budget"; readonly limit: string }
  | { readonly kind: "not_sent"; readonly reason: string };

export interface ThreadsRequest {
  /** The module that calls `doTasks`, without its extension. */
  readonly module: URL;
  /** The thread's name, for debuggers and profilers. */
  readonly name: string;
  readonly budget: ThreadBudget;
}

interface Job<Task, Result, Fault> {
  readonly task: Task;
  resolve(outcome: TaskOutcome<Result, Fault>): void;
  reject(error: unknown): void;
  /** Whether the client has left. */
  isLeft: boolean;
}

/**
 * Runs tasks in threads, each task within a budget. Every task starts on a quick thread. A task that takes
 * too long there becomes a slow task. If all slow threads are busy, the task is stopped and started again
 * when one is free. So the wait for a quick thread is limited to `quickMs`, whatever other clients send.
 */
export class BudgetedThreads<Task, Result, Fault> {
  readonly #request: ThreadsRequest;
  readonly #budget: ThreadBudget;
  readonly #threads = new Set<Thread<Task, Result, Fault>>();
  readonly #idle: Thread<Task, Result, Fault>[] = [];
  readonly #quick: Job<Task, Result, Fault>[] = [];
  readonly #slow: Job<Task, Result, Fault>[] = [];
  #quickRunning = 0;
  #slowRunning = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #idleMs: number;

  constructor(request: ThreadsRequest) {
    this.#request = request;
    this.#budget = request.budget;
    this.#idleMs = request.budget.idleMs;
  }

  /** From now on, a thread without work ends only after this time. */
  keepLonger(idleMs: number): void {
    this.#idleMs = Math.max(this.#idleMs, idleMs);
  }

  /** A `large` task counts as slow from the start. Rejects with the signal's reason, and with unexpected errors. */
  async run(task: Task, large = false, signal?: AbortSignal): Promise<TaskOutcome<Result, Fault>> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<TaskOutcome<Result, Fault>>();
    const job: Job<Task, Result, Fault> = { task, resolve, reject, isLeft: false };
    const leave = () => {
      job.isLeft = true;
      for (const queue of [this.#quick, this.#slow])
        if (queue.includes(job)) queue.splice(queue.indexOf(job), 1);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    (large ? this.#slow : this.#quick).push(job);
    this.#start();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Ends all threads; running tasks fail. */
  close(): void {
    clearTimeout(this.#idleTimer);
    this.#idle.length = 0;
    for (const thread of this.#threads) this.#endThread(thread);
  }

  #start(): void {
    while (this.#quick.length > 0 && this.#quickRunning < this.#budget.quickThreads)
      void this.#runQuick(this.#quick.shift()!);
    while (this.#slow.length > 0 && this.#slowRunning < this.#budget.slowThreads)
      void this.#runSlow(this.#slow.shift()!);
  }

  async #runQuick(job: Job<Task, Result, Fault>): Promise<void> {
    this.#quickRunning++;
    const thread = this.#takeThread();
    await thread.begin(job.task);
    const ended = await thread.done(this.#budget.quickMs, quickClockShare);
    this.#quickRunning--;
    if (ended === null) this.#warm();
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

  async #runSlow(job: Job<Task, Result, Fault>): Promise<void> {
    this.#slowRunning++;
    const thread = this.#takeThread();
    await thread.begin(job.task);
    await this.#finish(job, thread);
  }

  async #finish(job: Job<Task, Result, Fault>, thread: Thread<Task, Result, Fault>): Promise<void> {
    const { processorMs } = this.#budget;
    const ended = await thread.done(processorMs, clockShare);
    this.#slowRunning--;
    this.#settle(job, thread, ended ?? { kind: "spent", limit: `${processorMs} ms of processor time` });
    this.#start();
  }

  #settle(
    job: Job<Task, Result, Fault>,
    thread: Thread<Task, Result, Fault>,
    ended: Ended<Result, Fault>,
  ): void {
    const isLost = ended.kind === "spent" || ended.kind === "lost";
    if (!isLost && this.#idle.length < this.#budget.quickThreads) this.#keep(thread);
    else this.#endThread(thread);
    if (ended.kind === "lost") job.reject(ended.error);
    else if (ended.kind === "spent") job.resolve({ kind: "over_budget", limit: ended.limit });
    else job.resolve(ended);
  }

  #keep(thread: Thread<Task, Result, Fault>): void {
    this.#idle.push(thread);
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      for (const idle of this.#idle.splice(0)) this.#endThread(idle);
    }, this.#idleMs).unref();
  }

  /** Starts a thread for the next task. */
  #warm(): void {
    if (this.#idle.length === 0) this.#keep(this.#newThread());
  }

  #takeThread(): Thread<Task, Result, Fault> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.hasEnded) return idle;
      this.#endThread(idle);
    }
    return this.#newThread();
  }

  #newThread(): Thread<Task, Result, Fault> {
    const thread = new Thread<Task, Result, Fault>(this.#request);
    this.#threads.add(thread);
    return thread;
  }

  #endThread(thread: Thread<Task, Result, Fault>): void {
    this.#threads.delete(thread);
    thread.end();
  }
}

/** How a task ended in its thread. After `spent` and `lost` the thread cannot be used again. */
type Ended<Result, Fault> =
  | Exclude<TaskOutcome<Result, Fault>, { kind: "over_budget" }>
  | { readonly kind: "spent"; readonly limit: string }
  | { readonly kind: "lost"; readonly error: unknown };

/** One thread and its current task. */
class Thread<Task, Result, Fault> {
  readonly #worker: Worker;
  readonly #ready = Promise.withResolvers<void>();
  #ended = Promise.withResolvers<Ended<Result, Fault>>();
  #failure: Ended<Result, Fault> | null = null;
  #beganMs = 0;
  /** The thread's total processor time before the current task. */
  #idleProcessorMs = 0;

  constructor({ module, name, budget: { memoryMb } }: ThreadsRequest) {
    // Node runs the source directly; the published package contains JavaScript.
    const extension = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
    this.#worker = new Worker(fileURLToPath(module) + extension, {
      name,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
    });
    this.#worker.on("message", (report: ThreadReport<Result, Fault>) => {
      this.#idleProcessorMs = report.processorMs;
      if (report.kind === "ready") this.#ready.resolve();
      else this.#ended.resolve(report);
    });
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      this.#fail(isMemory ? { kind: "spent", limit: `${memoryMb} MB of memory` } : { kind: "lost", error });
    });
    this.#worker.on("exit", (code) =>
      this.#fail({
        kind: "lost",
        error: new Error(`a thread of ${name} ended unexpectedly (exit code ${code})`),
      }),
    );
    this.#worker.unref();
  }

  /** Whether it has ended by itself. */
  get hasEnded(): boolean {
    return this.#failure !== null;
  }

  async begin(task: Task): Promise<void> {
    this.#worker.ref();
    this.#ended = Promise.withResolvers();
    await this.#ready.promise;
    this.#beganMs = performance.now();
    if (this.#failure !== null) this.#ended.resolve(this.#failure);
    else this.#post(task);
  }

  /**
   * Returns null if the task has used up its processor time, or far more wall-clock time, without completing.
   */
  async done(processorMs: number, share: number): Promise<Ended<Result, Fault> | null> {
    for (let waitMs = processorMs; waitMs > 0; ) {
      const ended = await this.#within(waitMs);
      if (ended !== null) return ended;
      const leftMs = processorMs - (await this.#processorMs());
      const clockLeftMs = processorMs * share - (performance.now() - this.#beganMs);
      waitMs = leftMs <= 0 ? 0 : Math.min(Math.max(leftMs, 10), clockLeftMs);
    }
    return null;
  }

  end(): void {
    void this.#worker.terminate();
  }

  async #within(ms: number): Promise<Ended<Result, Fault> | null> {
    const { promise: over, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(() => resolve(null), ms);
    const ended = await Promise.race([this.#ended.promise, over]);
    clearTimeout(timer);
    if (ended !== null) this.#worker.unref();
    return ended;
  }

  /**
   * The processor time of the current task. Infinite if the thread does not answer because it is inside one
   * long call.
   */
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

  #post(task: Task): void {
    try {
      this.#worker.postMessage(task);
    } catch (cause) {
      // The task is nested too deeply to be copied; the thread itself is unaffected.
      this.#ended.resolve({ kind: "not_sent", reason: (cause as Error).message });
    }
  }

  #fail(failure: Ended<Result, Fault>): void {
    this.#failure ??= failure;
    this.#ready.resolve();
    this.#ended.resolve(this.#failure);
  }
}
