import type { Choice } from "../gpu/placement.ts";
import type { Runner } from "../runner/handle.ts";
import type { Clock } from "./clock.ts";
import type { LeaseRequest, LoadWish, ResidentView, RunnableModel } from "./lease.ts";

/**
 * What a runner is loaded for. Names, templates and sampling are not part of it: two names of the same weights
 * share a runner. The window is not either: a larger one serves smaller requests.
 */
export function lineOf(model: RunnableModel, load: LoadWish): string {
  return JSON.stringify([
    model.weights,
    model.adapters.map((adapter) => [adapter.path, adapter.scale]),
    load.numBatch,
    load.numThread,
    load.numGpu,
    load.mainGpu,
    load.useMmap,
  ]);
}

/** The window that a request gets of the model. */
export function windowOf(model: RunnableModel, load: LoadWish): number {
  return Math.min(load.numCtx, model.trainContext ?? load.numCtx);
}

/** How long a loaded model keeps its place while another waits for it: whichever ends first. */
const tenureRequests = 16;
const tenureMs = 2_000;

/** A model's place: while it loads, while it answers, and until its process is gone. */
export class Resident {
  readonly line: string;
  readonly model: RunnableModel;
  readonly numCtx: number;
  readonly loadedAtMs: number;
  readonly abortLoad = new AbortController();
  state: "loading" | "ready" | "leaving" = "loading";
  runner: Runner | null = null;
  /** As measured before the load, then as the engine allocated it. */
  sizeBytes = 0;
  /** Its part in the processor's memory. */
  hostBytes = 0;
  choice: Choice | null = null;
  activeSlots = 0;
  visits = 0;
  lastUsedMs: number;
  keepAliveMs: number;
  /** Settled once its process is gone, or its load has failed. */
  readonly gone = Promise.withResolvers<void>();
  /** Takes no more requests and goes when the last one has ended. `forPlace`: unless its place is not needed any more. */
  draining: { readonly why: string; readonly forPlace: boolean } | null = null;
  #tenure: { readonly sinceMs: number; granted: number } | null = null;
  #cancelTimer: (() => void) | null = null;
  readonly #clock: Clock;

  constructor(clock: Clock, line: string, first: LeaseRequest, numCtx: number) {
    this.#clock = clock;
    this.line = line;
    this.model = first.model;
    this.numCtx = numCtx;
    this.keepAliveMs = first.keepAliveMs;
    this.loadedAtMs = clock.now();
    this.lastUsedMs = this.loadedAtMs;
  }

  ready(runner: Runner): void {
    this.runner = runner;
    this.state = "ready";
    this.lastUsedMs = this.#clock.now();
    const { weights, context, compute } = runner.info.sizeBytes;
    this.sizeBytes = weights + context + compute;
    const onDevices = runner.info.devices.reduce((sum, { bytes }) => sum + bytes, 0);
    this.hostBytes = Math.max(0, this.sizeBytes - onDevices);
  }

  get isIdle(): boolean {
    return this.activeSlots === 0 && this.visits === 0;
  }

  get isPinned(): boolean {
    return this.keepAliveMs === Number.POSITIVE_INFINITY;
  }

  /** When it goes if nobody asks for it again; null while pinned. A busy one counts from now. */
  get expiresAtMs(): number | null {
    if (this.isPinned) return null;
    return (this.isIdle ? this.lastUsedMs : this.#clock.now()) + this.keepAliveMs;
  }

  get isOpen(): boolean {
    return this.state === "ready" && this.draining === null;
  }

  /** Whether it may take this request now, its turn given. */
  hasRoomFor(request: LeaseRequest, leastCtx: number): boolean {
    if (!this.isOpen || this.numCtx < leastCtx) return false;
    return request.uses !== "slot" || (this.activeSlots < this.runner!.slots && this.tenureSpent === null);
  }

  /** Another model waits for a place: from now on requests and time count. */
  contend(): void {
    this.#tenure ??= { sinceMs: this.#clock.now(), granted: 0 };
  }

  /** Nobody waits any more. */
  settle(): void {
    this.#tenure = null;
    if (this.draining?.forPlace) this.draining = null;
  }

  /** Null: it may go on. */
  get tenureSpent(): string | null {
    if (this.#tenure === null) return null;
    if (this.#tenure.granted >= tenureRequests) return `${tenureRequests} requests`;
    const heldMs = this.#clock.now() - this.#tenure.sinceMs;
    return heldMs >= tenureMs ? `${tenureMs / 1000} s` : null;
  }

  get tenureEndsInMs(): number | null {
    return this.#tenure === null ? null : this.#tenure.sinceMs + tenureMs - this.#clock.now();
  }

  enter(request: LeaseRequest, keepAliveMs: number): void {
    if (request.uses === "slot") {
      this.activeSlots++;
      if (this.#tenure !== null) this.#tenure.granted++;
    } else this.visits++;
    this.keepAliveMs = keepAliveMs;
    this.lastUsedMs = this.#clock.now();
    this.cancelExpiry();
  }

  leave(request: LeaseRequest): void {
    if (request.uses === "slot") this.activeSlots--;
    else this.visits--;
    this.lastUsedMs = this.#clock.now();
  }

  /** Calls back when the keep-alive has run out, if it is idle then. */
  armExpiry(expired: () => void): void {
    this.cancelExpiry();
    const dueMs = this.expiresAtMs;
    if (dueMs === null || !this.isIdle) return;
    this.#cancelTimer = this.#clock.after(Math.max(0, dueMs - this.#clock.now()), () => {
      this.#cancelTimer = null;
      if (this.#clock.now() >= dueMs) expired();
      else this.armExpiry(expired);
    });
  }

  cancelExpiry(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  view(waiting: number): ResidentView {
    return {
      model: this.model,
      state: this.state,
      numCtx: this.numCtx,
      sizeBytes: this.sizeBytes,
      devices: this.runner?.info.devices ?? [],
      whyThere: this.choice?.why ?? "",
      expiresAtMs: this.expiresAtMs,
      loadedAtMs: this.loadedAtMs,
      slots: this.runner?.slots ?? 0,
      activeSlots: this.activeSlots,
      waiting,
      keepAliveMs: this.keepAliveMs,
      pid: this.runner?.pid ?? null,
      responds: this.runner?.responds ?? true,
    };
  }
}
