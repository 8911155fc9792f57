import type { Choice } from "../gpu/placement.ts";
import type { Runner } from "../runner/handle.ts";
import type { Clock } from "./clock.ts";
import type { LeaseRequest, LoadWish, ResidentView, RunnableModel } from "./lease.ts";
import type { Fit } from "./sharing.ts";

/**
 * Identifies the runner that can serve a request. Names, templates and sampling are not part of the key, so
 * two names for the same weights share a runner. The context length is not part of it either, because a
 * larger context can serve smaller requests.
 */
export function lineOf(model: RunnableModel, load: LoadWish): string {
  return JSON.stringify([
    model.weights,
    model.adapters.map((adapter) => [adapter.path, adapter.scale]),
    model.draftPath ?? null,
    load.numBatch,
    load.numThread,
    load.numGpu,
    load.mainGpu,
    load.cpuExperts ?? null,
    load.shares ?? null,
    load.useMmap,
  ]);
}

/** The context length a request gets. */
export function contextLengthOf(model: RunnableModel, load: LoadWish): number {
  return Math.min(load.numCtx, model.trainContext ?? load.numCtx);
}

function whyCtx({ numCtx: wanted, whyCtx = "" }: LoadWish, numCtx: number): string {
  return wanted <= numCtx ? whyCtx : `${whyCtx}, limited to what the model was trained with`;
}

/** While another model waits, a loaded model may serve until it reaches the first of these limits. */
const tenureRequests = 16;
const tenureMs = 2_000;

/** A model in memory, from the start of its load until its process has exited. */
export class Resident {
  readonly line: string;
  readonly model: RunnableModel;
  numCtx: number;
  /** The tokens of the cache that the slots share. Undefined if each has a window of its own. */
  cells: number | undefined;
  load: LoadWish;
  readonly loadedAtMs: number;
  readonly abortLoad = new AbortController();
  state: "loading" | "ready" | "leaving" = "loading";
  runner: Runner | null = null;
  /** An estimate before the load. Afterwards, what the engine allocated. */
  sizeBytes = 0;
  /** The part of `sizeBytes` in host memory. */
  hostBytes = 0;
  choice: Choice | null = null;
  activeSlots = 0;
  visits = 0;
  lastUsedMs: number;
  keepAliveMs: number;
  /** Resolves when the process has exited or the load has failed. */
  readonly gone = Promise.withResolvers<void>();
  /**
   * Set while the model accepts no requests and unloads after its last one. With `toMakeRoom`, it is
   * cancelled when the room is no longer needed.
   */
  draining: { readonly why: string; readonly toMakeRoom: boolean } | null = null;
  refusedGrowth: ResidentView["refusedGrowth"] = null;
  #tenure: { readonly sinceMs: number; granted: number } | null = null;
  #cancelTimer: (() => void) | null = null;
  readonly #clock: Clock;

  constructor(clock: Clock, line: string, first: LeaseRequest, numCtx: number) {
    this.#clock = clock;
    this.line = line;
    this.model = first.model;
    this.numCtx = numCtx;
    this.load = first.load;
    this.keepAliveMs = first.keepAliveMs;
    this.loadedAtMs = clock.now();
    this.lastUsedMs = this.loadedAtMs;
  }

  /** Sets the devices, the estimated size, and what the slots share. */
  place({ choice, cells }: Pick<Fit, "choice" | "cells">): void {
    this.choice = choice;
    this.cells = cells;
    this.hostBytes = choice.hostBytes;
    this.sizeBytes = choice.hostBytes + choice.deviceBytes;
  }

  /** Called while the model is loading. */
  widen(load: LoadWish): void {
    this.numCtx = load.numCtx;
    this.load = load;
  }

  ready(runner: Runner): void {
    this.runner = runner;
    this.state = "ready";
    this.lastUsedMs = this.#clock.now();
    const { weights, context, compute, checkpoints } = runner.info.sizeBytes;
    this.sizeBytes = weights + context + compute + checkpoints;
    const onDevices = runner.info.devices.reduce((sum, { bytes }) => sum + bytes, 0);
    this.hostBytes = Math.max(0, this.sizeBytes - onDevices);
  }

  get isIdle(): boolean {
    return this.activeSlots === 0 && this.visits === 0;
  }

  /** The host memory that no other model can have: without what the runner spares. */
  get takenBytes(): number {
    return Math.max(0, this.hostBytes - (this.runner?.spareBytes ?? 0));
  }

  /**
   * The host memory that unloading is certain to free. Weights may be mapped, and mapped files already count
   * as available.
   */
  get freeableBytes(): number {
    if (this.runner === null) return 0;
    const { context, compute, checkpoints } = this.runner.info.sizeBytes;
    return Math.min(this.takenBytes, context + compute + checkpoints - this.runner.spareBytes);
  }

  get isPinned(): boolean {
    return this.keepAliveMs === Number.POSITIVE_INFINITY;
  }

  /**
   * When the model unloads if no further requests come. Null if it is pinned. While it is busy, the time is
   * counted from now.
   */
  get expiresAtMs(): number | null {
    if (this.isPinned) return null;
    return (this.isIdle ? this.lastUsedMs : this.#clock.now()) + this.keepAliveMs;
  }

  get isOpen(): boolean {
    return this.state === "ready" && this.draining === null;
  }

  /** Whether this request can start now if it is next in line. */
  canServe(request: LeaseRequest, minCtx: number): boolean {
    if (!this.isOpen || this.numCtx < minCtx) return false;
    return request.uses !== "slot" || (this.activeSlots < this.runner!.slots && this.tenureSpent === null);
  }

  /** Called when another model waits. Starts counting requests and time. */
  startTenure(): void {
    this.#tenure ??= { sinceMs: this.#clock.now(), granted: 0 };
  }

  /** Called when no other model waits any more. */
  endTenure(): void {
    this.#tenure = null;
    if (this.draining?.toMakeRoom) this.draining = null;
  }

  /** Describes the limit that was reached. Null while the model may keep serving. */
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

  /** Calls back when the keep-alive expires. Does nothing while the model is busy or pinned. */
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
      whyCtx: whyCtx(this.load, this.numCtx),
      load: this.load,
      sizeBytes: this.sizeBytes,
      devices: this.runner?.info.devices ?? [],
      whyThere: this.choice?.why ?? "",
      expiresAtMs: this.expiresAtMs,
      loadedAtMs: this.loadedAtMs,
      slots: this.runner?.slots ?? 0,
      sharedCells: this.runner?.info.cells ?? null,
      refusedGrowth: this.refusedGrowth,
      activeSlots: this.activeSlots,
      waiting,
      keepAliveMs: this.keepAliveMs,
      pid: this.runner?.pid ?? null,
      responds: this.runner?.responds ?? true,
    };
  }
}
