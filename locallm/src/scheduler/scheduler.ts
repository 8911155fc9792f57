import type { Runner, StartRunner } from "../runner/handle.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Clock } from "./clock.ts";
import { CoolDown } from "./cool-down.ts";
import { Decisions } from "./decisions.ts";
import type { EstimateLoad } from "./estimate.ts";
import type { Decision, Lease, LeaseRequest, RunnableModel, Scheduler, SchedulerView } from "./lease.ts";
import { Queue, type Waiter } from "./queue.ts";
import { lineOf, Resident, windowOf } from "./residency.ts";

export interface SchedulerSettings {
  /** Parallel places of each loaded model. */
  readonly slots: number;
  readonly maxLoadedModels: number;
  readonly maxQueue: number;
  /** A load without progress for so long is given up. */
  readonly loadTimeoutMs: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvCacheType: "f16" | "q8_0" | "q4_0";
  /** Added to every runner's environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What the scheduler works with, so that tests can put their own in. */
export interface SchedulerParts {
  readonly clock: Clock;
  readonly startRunner: StartRunner;
  /** Memory that loading would take, in bytes. Throws what is wrong with the file. */
  readonly estimate: (model: RunnableModel, load: EstimateLoad) => Promise<number>;
  /** Memory that may still be taken, in bytes. */
  readonly availableBytes: () => number;
  readonly onDecision?: (decision: Decision) => void;
  readonly onLog?: (model: string, line: string) => void;
}

export function createScheduler(settings: SchedulerSettings, parts: SchedulerParts): Scheduler {
  return new PlaceScheduler(settings, parts);
}

/**
 * Gives models places in memory and requests places in models. Every event ends in `#dispatch`, which looks at
 * everything again: grant what can be granted, then make place for whoever has waited longest.
 */
class PlaceScheduler implements Scheduler {
  readonly #settings: SchedulerSettings;
  readonly #parts: SchedulerParts;
  readonly #clock: Clock;
  readonly #queue: Queue;
  readonly #coolDown: CoolDown;
  readonly #decisions: Decisions;
  readonly #residents = new Set<Resident>();
  /** Lines whose model does not fit into memory beside those that are loaded. */
  readonly #crowdedOut = new Set<string>();
  /** Lines that lost their place, with the ticket that stands for the moment: who waited then comes first. */
  readonly #yielded = new Map<string, number>();
  #tickets = 0;
  #closing = false;
  #becameIdle: (() => void) | null = null;
  #cancelTenureTimer: (() => void) | null = null;
  #meanLeaseMs = 1_000;

  constructor(settings: SchedulerSettings, parts: SchedulerParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#queue = new Queue(settings.maxQueue);
    this.#coolDown = new CoolDown(parts.clock);
    this.#decisions = new Decisions(
      () => parts.clock.now(),
      (decision) => parts.onDecision?.(decision),
    );
  }

  lease(request: LeaseRequest): Promise<Lease> {
    return new Promise<Lease>((resolve, reject) => {
      const line = lineOf(request.model, request.load);
      const refusal = this.#refusal(request, line);
      if (refusal !== undefined) {
        reject(refusal);
        return;
      }
      const waiter: Waiter = {
        request,
        line,
        numCtx: windowOf(request.model, request.load),
        sinceMs: this.#clock.now(),
        ticket: this.#tickets++,
        settle: { resolve, reject },
      };
      const resident = this.#residentOf(line);
      const isNext = request.uses === "visit" || this.#queue.head(line) === undefined;
      if (isNext && resident?.hasRoomFor(request, waiter.numCtx)) {
        this.#grant(resident, waiter);
        return;
      }
      if (this.#queue.isFull) {
        this.#decisions.add(request.model.name, "refuse", `${this.#queue.length} requests wait already`);
        reject(new LocallmError("queue_full", {}));
        return;
      }
      this.#queue.push(waiter);
      request.signal.addEventListener("abort", () => this.#abandon(waiter), { once: true });
      this.#dispatch();
    });
  }

  async unload(matches: (model: RunnableModel) => boolean, why: string): Promise<void> {
    const matching = [...this.#residents].filter((resident) => matches(resident.model));
    for (const resident of matching) resident.draining = { why, forPlace: false };
    this.#dispatch();
    await Promise.all(matching.map((resident) => resident.gone.promise));
  }

  expire(model: RunnableModel): void {
    for (const resident of this.#residents) {
      if (resident.model.weights !== model.weights) continue;
      resident.keepAliveMs = 0;
      resident.armExpiry(() => this.#expired(resident));
    }
  }

  accepts(): boolean {
    return !this.#closing && !this.#queue.isFull;
  }

  retryAfterSeconds(): number {
    const seconds = (this.#meanLeaseMs * (this.#queue.length + 1)) / this.#settings.slots / 1000;
    return Math.min(60, Math.max(1, Math.ceil(seconds)));
  }

  view(): SchedulerView {
    const now = this.#clock.now();
    return {
      residents: [...this.#residents].map((resident) =>
        resident.view(this.#queue.line(resident.line).length),
      ),
      waiting: this.#queue.heads().map((head) => ({
        model: head.request.model.name,
        count: this.#queue.line(head.line).length,
        oldestMs: now - head.sinceMs,
      })),
      decisions: this.#decisions.list(),
    };
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closing = true;
    this.#cancelTenureTimer?.();
    for (const line of this.#queue.lines()) {
      for (const waiter of this.#queue.take(line))
        waiter.settle.reject(new LocallmError("shutting_down", {}));
    }
    for (const resident of this.#residents) resident.abortLoad.abort();
    if (!this.#allIdle()) {
      await new Promise<void>((resolve) => {
        this.#becameIdle = resolve;
        this.#clock.after(deadlineMs, resolve);
      });
    }
    const residents = [...this.#residents];
    for (const resident of residents) this.#depart(resident, "unload", "the server stops");
    await Promise.all(residents.map((resident) => resident.gone.promise));
  }

  #refusal(request: LeaseRequest, line: string): unknown {
    if (request.signal.aborted) return request.signal.reason;
    if (this.#closing) return new LocallmError("shutting_down", {});
    return this.#coolDown.error(line);
  }

  /** The client went away: out of the queue, and out of a load that nobody else waits for. */
  #abandon(waiter: Waiter): void {
    if (!this.#queue.remove(waiter)) return;
    waiter.settle.reject(waiter.request.signal.reason);
    if (this.#queue.head(waiter.line) === undefined) {
      for (const resident of this.#residents) {
        if (resident.line === waiter.line && resident.state === "loading") resident.abortLoad.abort();
      }
    }
    this.#dispatch();
  }

  #dispatch(): void {
    if (this.#closing) {
      if (this.#allIdle()) this.#becameIdle?.();
      return;
    }
    this.#countTenures();
    for (const head of this.#queue.heads()) this.#grantLine(head.line);
    for (const head of this.#needingPlace()) this.#makePlace(head);
    for (const resident of this.#residents) {
      if (resident.state !== "ready" || !resident.isIdle) continue;
      if (resident.draining !== null) this.#depart(resident, "evict", resident.draining.why);
      else resident.armExpiry(() => this.#expired(resident));
    }
  }

  /** Heads of lines that no place, ready or loading, will serve; the one whose turn it is in front. */
  #needingPlace(): Waiter[] {
    const needing = this.#queue.heads().filter((head) => {
      const resident = this.#residentOf(head.line);
      return resident === undefined || resident.draining !== null || resident.numCtx < head.numCtx;
    });
    const turn = (head: Waiter) => Math.max(head.ticket, this.#yielded.get(head.line) ?? 0);
    return needing.sort((a, b) => turn(a) - turn(b));
  }

  /** Starts the tenure of every loaded model while another waits for a place, and ends it when none does. */
  #countTenures(): void {
    this.#cancelTenureTimer?.();
    this.#cancelTenureTimer = null;
    const needing = this.#needingPlace();
    const contended =
      needing.length > 0 &&
      (this.#freePlaces() <= 0 || needing.some((head) => this.#crowdedOut.has(head.line)));
    let nextMs = Number.POSITIVE_INFINITY;
    for (const resident of this.#residents) {
      if (resident.state !== "ready") continue;
      if (!contended) {
        resident.settle();
        continue;
      }
      resident.contend();
      const inMs = resident.tenureEndsInMs ?? 0;
      if (inMs > 0) nextMs = Math.min(nextMs, inMs);
    }
    if (nextMs < Number.POSITIVE_INFINITY)
      this.#cancelTenureTimer = this.#clock.after(nextMs, () => this.#dispatch());
  }

  #grantLine(line: string): void {
    const resident = this.#residentOf(line);
    if (resident === undefined) return;
    for (let head = this.#queue.head(line); head !== undefined; head = this.#queue.head(line)) {
      if (!resident.hasRoomFor(head.request, head.numCtx)) return;
      this.#queue.remove(head);
      this.#grant(resident, head);
    }
  }

  #grant(resident: Resident, { request, numCtx, sinceMs, settle }: Waiter): void {
    const runner = resident.runner!;
    const grantedMs = this.#clock.now();
    resident.enter(request);
    let held = true;
    settle.resolve({
      runner,
      info: runner.info,
      numCtx: Math.min(numCtx, runner.info.contextLength),
      waitedMs: grantedMs - sinceMs,
      release: () => {
        if (!held) return;
        held = false;
        this.#meanLeaseMs += (this.#clock.now() - grantedMs - this.#meanLeaseMs) / 16;
        resident.leave(request);
        this.#dispatch();
      },
    });
  }

  /** One step towards a place for a line: load into a free one, empty one, or wait for one to empty. */
  #makePlace(head: Waiter): void {
    const own = this.#residentOf(head.line);
    if (own !== undefined) {
      if (own.isOpen)
        this.#drain(
          own,
          false,
          `a request wants a window of ${head.numCtx}, it is loaded with ${own.numCtx}`,
        );
      return;
    }
    const residents = [...this.#residents];
    // One load at a time, so that each sees the memory that the last one left.
    if (residents.some(({ state }) => state === "loading" || state === "leaving")) return;
    if (this.#freePlaces() > 0 && !this.#crowdedOut.has(head.line)) {
      void this.#load(head.line);
      return;
    }
    const idle = residents.filter((resident) => resident.isIdle).sort(byEvictionOrder)[0];
    const spent = residents.some(({ draining }) => draining !== null)
      ? undefined
      : residents.filter(({ tenureSpent }) => tenureSpent !== null).sort(byEvictionOrder)[0];
    const victim = idle ?? spent;
    if (victim === undefined) return;
    const served = victim.tenureSpent === null ? "least recently used" : `served ${victim.tenureSpent}`;
    const pinned = victim.isPinned ? ", pinned, but nothing else could go" : "";
    this.#drain(victim, true, `${head.request.model.name} needs its place: ${served}${pinned}`);
  }

  #drain(resident: Resident, forPlace: boolean, why: string): void {
    resident.draining = { why, forPlace };
    if (forPlace && this.#queue.head(resident.line) !== undefined)
      this.#yielded.set(resident.line, this.#tickets++);
    if (resident.isIdle) this.#depart(resident, "evict", why);
    else this.#decisions.add(resident.model.name, "drain", why);
  }

  async #load(line: string): Promise<void> {
    const waiters = this.#queue.line(line);
    const first = waiters[0]!.request;
    // Whoever waits behind would make it load again for a larger window.
    const numCtx = Math.max(...waiters.map((waiter) => waiter.numCtx));
    const resident = new Resident(this.#clock, line, first, numCtx);
    this.#residents.add(resident);
    this.#yielded.delete(line);
    const startedMs = this.#clock.now();
    try {
      if (await this.#fits(resident, first)) {
        this.#decisions.add(first.model.name, "load", `${waiters.length} waiting, window ${numCtx}`);
        const runner = await this.#start(resident, first);
        resident.ready(runner);
        this.#coolDown.clear(line);
        this.#decisions.add(first.model.name, "ready", `window ${numCtx}`, this.#clock.now() - startedMs);
        void runner.exited.then((exit) => this.#died(resident, exit.asked));
        if (this.#closing) this.#depart(resident, "unload", "the server stops");
      } else {
        this.#remove(resident);
        this.#crowdedOut.add(line);
      }
    } catch (error) {
      this.#remove(resident);
      this.#loadFailed(resident, error);
    }
    this.#dispatch();
  }

  /** False: somebody must leave first. Throws where even an empty machine would not do. */
  async #fits(resident: Resident, { model, load }: LeaseRequest): Promise<boolean> {
    const { slots, kvCacheType, flashAttention } = this.#settings;
    const { numCtx } = resident;
    const { numBatch } = load;
    const wanted = { numCtx, numBatch, slots, kvCacheType, flashAttention };
    const needed = await this.#parts.estimate(model, wanted);
    resident.sizeBytes = needed;
    const available = this.#parts.availableBytes();
    if (needed <= available) return true;
    if (this.#residents.size > 1) return false;
    throw new LocallmError("model_too_large", { needed: gib(needed), available: gib(available) });
  }

  async #start(resident: Resident, { model, load }: LeaseRequest): Promise<Runner> {
    const settings = this.#settings;
    const stalled = new AbortController();
    let cancelTimer = () => {};
    const progressed = () => {
      cancelTimer();
      if (!Number.isFinite(settings.loadTimeoutMs)) return;
      cancelTimer = this.#clock.after(settings.loadTimeoutMs, () => stalled.abort());
    };
    progressed();
    try {
      return await this.#parts.startRunner(
        {
          modelPath: model.modelPath,
          adapters: model.adapters,
          numCtx: resident.numCtx,
          slots: settings.slots,
          numBatch: load.numBatch,
          numThread: load.numThread,
          numGpu: load.numGpu,
          mainGpu: load.mainGpu,
          useMmap: load.useMmap,
          flashAttention: settings.flashAttention,
          kvCacheType: settings.kvCacheType,
        },
        {
          env: settings.environment,
          signal: AbortSignal.any([stalled.signal, resident.abortLoad.signal]),
          onProgress: progressed,
          onLog: (line) => this.#parts.onLog?.(model.name, line),
        },
      );
    } catch (cause) {
      if (stalled.signal.aborted)
        throw new LocallmError("model_load_failed", {
          reason: `no progress for ${settings.loadTimeoutMs / 1000} s`,
        });
      throw cause;
    } finally {
      cancelTimer();
    }
  }

  /** All who wait for the model fail together; the next one may try again after a pause. */
  #loadFailed(resident: Resident, cause: unknown): void {
    if (resident.abortLoad.signal.aborted) {
      this.#decisions.add(resident.model.name, "unload", "nobody waits for the load any more");
      return;
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    const error =
      cause instanceof LocallmError ? cause : new LocallmError("model_load_failed", { reason }, { cause });
    this.#coolDown.fail(resident.line, error);
    this.#decisions.add(resident.model.name, "fail", error.message);
    for (const waiter of this.#queue.take(resident.line)) waiter.settle.reject(error);
  }

  #died(resident: Resident, asked: boolean): void {
    if (asked || !this.#residents.has(resident)) return;
    this.#decisions.add(resident.model.name, "died", "its process ended by itself");
    this.#remove(resident);
    this.#dispatch();
  }

  #expired(resident: Resident): void {
    if (resident.isOpen && resident.isIdle) this.#depart(resident, "unload", "keep-alive ran out");
  }

  /** Ends the process; its place is free once the memory is back. */
  #depart(resident: Resident, what: "evict" | "unload", why: string): void {
    if (resident.state !== "ready") return;
    resident.state = "leaving";
    resident.cancelExpiry();
    this.#decisions.add(resident.model.name, what, why);
    void resident.runner!.close().finally(() => {
      this.#remove(resident);
      this.#dispatch();
    });
  }

  #remove(resident: Resident): void {
    this.#residents.delete(resident);
    this.#crowdedOut.clear();
    resident.cancelExpiry();
    resident.gone.resolve();
  }

  #allIdle(): boolean {
    return [...this.#residents].every((resident) => resident.isIdle);
  }

  #residentOf(line: string): Resident | undefined {
    for (const resident of this.#residents) if (resident.line === line) return resident;
    return undefined;
  }

  #freePlaces(): number {
    return this.#settings.maxLoadedModels - this.#residents.size;
  }
}

/** Least recently used first; pinned ones only when there is nobody else. */
function byEvictionOrder(a: Resident, b: Resident): number {
  return Number(a.isPinned) - Number(b.isPinned) || a.lastUsedMs - b.lastUsedMs;
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
