import type { LoadedVocabulary, RunnerExit } from "../runner/handle.ts";
import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Clock } from "./clock.ts";
import { CoolDown } from "./cool-down.ts";
import { Decisions } from "./decisions.ts";
import type {
  Lease,
  LeaseRequest,
  LoadWish,
  RunnableModel,
  Scheduler,
  SchedulerView,
  WindowLimit,
} from "./lease.ts";
import { type Loading, loadRunner, type Placed, placeResident, widen } from "./loading.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import { Queue } from "./queue.ts";
import { contextLengthOf, lineOf, Resident } from "./residency.ts";
import { chooseVictim } from "./victim.ts";
import type { Waiter } from "./waiter.ts";
import { largestWindow } from "./window-limit.ts";

export function createScheduler(settings: SchedulerSettings, parts: SchedulerParts): Scheduler {
  return new PlaceScheduler(settings, parts);
}

/**
 * Loads models into memory and grants requests slots in them. Every event ends in `#dispatch`, which re-examines
 * everything: it grants what it can, then makes room for the request that has waited longest. A "place" is the right
 * to one of the `maxLoadedModels` loaded models; a "line" holds the requests for one runner.
 */
class PlaceScheduler implements Scheduler {
  readonly #settings: SchedulerSettings;
  readonly #parts: SchedulerParts;
  readonly #clock: Clock;
  readonly #queue: Queue<Waiter>;
  readonly #coolDown: CoolDown;
  readonly #decisions: Decisions;
  readonly #residents = new Set<Resident>();
  /** Lines whose model does not fit into memory next to the loaded models. */
  readonly #needsMemory = new Set<string>();
  /**
   * Lines that lost their place while requests were waiting, each with the ticket number of that moment.
   * Lower tickets go first.
   */
  readonly #evictedAt = new Map<string, number>();
  #tickets = 0;
  #closing = false;
  #becameIdle: (() => void) | null = null;
  /** Called once, on the next change. */
  readonly #onChange: (() => void)[] = [];
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
      const numCtx = contextLengthOf(request.model, request.load);
      const waiter: Waiter = {
        request,
        line,
        key: request.key ?? null,
        numCtx,
        minCtx: request.uses === "visit" ? 1 : numCtx,
        keepAliveMs: request.keepAliveMs,
        sinceMs: this.#clock.now(),
        ticket: this.#tickets++,
        settle: { resolve, reject },
      };
      const resident = this.#residentOf(line);
      // Nobody is overtaken: where a request of its line waits for a slot, the model has none to give.
      if (resident?.canServe(request, waiter.minCtx)) {
        this.#grant(resident, waiter);
        return;
      }
      const refused = this.#queue.push(waiter);
      if (refused !== null) this.#refuse(refused);
      if (refused === waiter) return;
      request.signal.addEventListener("abort", () => this.#abandon(waiter), { once: true });
      this.#dispatch();
    });
  }

  async unload(matches: (model: RunnableModel) => boolean, why: string): Promise<void> {
    while (this.#isAwaited(matches)) await new Promise<void>((resolve) => this.#onChange.push(resolve));
    const matching = [...this.#residents].filter((resident) => matches(resident.model));
    for (const resident of matching) resident.draining = { why, toMakeRoom: false };
    this.#dispatch();
    await Promise.all(matching.map((resident) => resident.gone.promise));
  }

  async windowLimit(model: RunnableModel, load: LoadWish, wanted = Infinity): Promise<WindowLimit> {
    const own = this.#residentOf(lineOf(model, load));
    const isFreeable = (resident: Resident) => resident === own || resident.isIdle;
    const freeable = [...this.#residents].filter(isFreeable);
    return await largestWindow(this.#settings, this.#parts, {
      ...{ model, load, wanted },
      loaded: own?.runner?.info.contextLength ?? 0,
      availableBytes: () =>
        this.loadableBytes() + freeable.reduce((sum, resident) => sum + resident.freeableBytes, 0),
    });
  }

  expire(model: RunnableModel): void {
    // The latest keep-alive overrides the values of waiting requests, because these arrived earlier.
    for (const line of this.#queue.lines()) {
      for (const waiter of this.#queue.line(line))
        if (waiter.request.model.weights === model.weights) waiter.keepAliveMs = 0;
    }
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
        oldestMs: now - Math.min(...this.#queue.line(head.line).map(({ sinceMs }) => sinceMs)),
      })),
      decisions: this.#decisions.list(),
    };
  }

  freeBytes(): number {
    const unused = [...this.#residents].reduce((sum, { runner }) => sum + (runner?.unusedBytes ?? 0), 0);
    return Math.max(0, this.#parts.availableBytes() - unused);
  }

  loadableBytes(): number {
    return this.freeBytes() + (this.#parts.conversations?.memoryBytes ?? 0);
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closing = true;
    this.#cancelTenureTimer?.();
    for (const line of this.#queue.lines()) {
      for (const waiter of this.#queue.take(line))
        waiter.settle.reject(new LocallmError("shutting_down", {}));
    }
    for (const resident of this.#residents) resident.abortLoad.abort();
    this.#dispatch();
    if (!this.#allIdle()) {
      await new Promise<void>((resolve) => {
        this.#becameIdle = resolve;
        this.#clock.after(deadlineMs, resolve);
      });
    }
    const residents = [...this.#residents];
    for (const resident of residents) {
      this.#unload(resident, "unload", "the server is shutting down");
      // A busy runner would not read the request to stop before it has finished computing.
      if (!resident.isIdle) void resident.runner?.kill();
    }
    await Promise.all(residents.map((resident) => resident.gone.promise));
  }

  #refusal(request: LeaseRequest, line: string): unknown {
    if (request.signal.aborted) return request.signal.reason;
    if (this.#closing) return new LocallmError("shutting_down", {});
    return this.#coolDown.error(line);
  }

  /** A request that the queue has no room for. */
  #refuse({ request, line, settle }: Waiter): void {
    this.#decisions.add(request.model.name, "refuse", `the queue is full (${this.#queue.length} waiting)`);
    settle.reject(new LocallmError("queue_full", { waiting: this.#queue.length }));
    this.#abortUnawaitedLoad(line);
  }

  /**
   * Called when the client disconnects. Leaves the queue and aborts the load if no other request waits for
   * it.
   */
  #abandon(waiter: Waiter): void {
    if (!this.#queue.remove(waiter)) return;
    waiter.settle.reject(waiter.request.signal.reason);
    this.#abortUnawaitedLoad(waiter.line);
    this.#dispatch();
  }

  #abortUnawaitedLoad(line: string): void {
    if (this.#queue.head(line) !== undefined) return;
    for (const resident of this.#residents)
      if (resident.line === line && resident.state === "loading") resident.abortLoad.abort();
  }

  #dispatch(): void {
    for (const notify of this.#onChange.splice(0)) notify();
    if (this.#closing) {
      if (this.#allIdle()) this.#becameIdle?.();
      return;
    }
    this.#updateTenures();
    for (const head of this.#queue.heads()) this.#grantLine(head.line);
    // Unload drained models before choosing a victim: they were drained to make room.
    for (const resident of this.#idle())
      if (resident.draining !== null) this.#unloadDrained(resident, resident.draining);
    for (const head of this.#needingPlace()) this.#makePlace(head);
    for (const resident of this.#idle()) resident.armExpiry(() => this.#expired(resident));
  }

  #idle(): Resident[] {
    return [...this.#residents].filter(({ state, isIdle }) => state === "ready" && isIdle);
  }

  /**
   * Returns the first requests of lines that no ready or loading model will serve, in order of their turn.
   */
  #needingPlace(): Waiter[] {
    const needing = this.#queue.heads().filter((head) => {
      const resident = this.#residentOf(head.line);
      return resident === undefined || resident.draining !== null || resident.numCtx < head.minCtx;
    });
    const turn = (head: Waiter) => Math.max(head.ticket, this.#evictedAt.get(head.line) ?? 0);
    return needing.sort((a, b) => turn(a) - turn(b));
  }

  /**
   * Starts the tenure of every loaded model while another model waits for a place. Ends it when none waits.
   */
  #updateTenures(): void {
    this.#cancelTenureTimer?.();
    this.#cancelTenureTimer = null;
    const needing = this.#needingPlace();
    const contended =
      needing.length > 0 &&
      (this.#freePlaces() <= 0 || needing.some((head) => this.#needsMemory.has(head.line)));
    let nextMs = Number.POSITIVE_INFINITY;
    for (const resident of this.#residents) {
      if (resident.state !== "ready") continue;
      if (!contended) {
        resident.endTenure();
        continue;
      }
      resident.startTenure();
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
      if (!resident.canServe(head.request, head.minCtx)) return;
      this.#queue.serve(head);
      this.#grant(resident, head);
    }
  }

  #grant(resident: Resident, { request, keepAliveMs, numCtx, sinceMs, settle }: Waiter): void {
    const runner = resident.runner!;
    const grantedMs = this.#clock.now();
    resident.enter(request, keepAliveMs);
    let held = true;
    settle.resolve({
      runner,
      info: runner.info,
      numCtx: request.load.isAutomatic
        ? runner.info.contextLength
        : Math.min(numCtx, runner.info.contextLength),
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

  /**
   * Takes one step towards loading the model of a line: loads it into a free place, drains a place, or waits
   * for one.
   */
  #makePlace(head: Waiter): void {
    const own = this.#residentOf(head.line);
    if (own !== undefined) {
      if (own.isOpen)
        this.#drain(own, false, `a request needs context length ${head.numCtx}, loaded with ${own.numCtx}`);
      return;
    }
    const residents = [...this.#residents];
    // One load at a time, so that each sees how much memory the previous one left.
    if (residents.some(({ state }) => state === "loading" || state === "leaving")) return;
    if (this.#freePlaces() > 0 && !this.#needsMemory.has(head.line)) {
      void this.#load(head.line);
      return;
    }
    const victim = chooseVictim(residents);
    if (victim === null) return;
    const { resident, why } = victim;
    this.#drain(resident, true, `to make room for ${head.request.model.name}: ${why}`);
  }

  #drain(resident: Resident, toMakeRoom: boolean, why: string): void {
    resident.draining = { why, toMakeRoom };
    if (toMakeRoom && this.#queue.head(resident.line) !== undefined)
      this.#evictedAt.set(resident.line, this.#tickets++);
    if (resident.isIdle) this.#unloadDrained(resident, resident.draining);
    else this.#decisions.add(resident.model.name, "drain", why);
  }

  async #load(line: string): Promise<void> {
    const waiters = this.#queue.line(line);
    // Load for the largest context length in the line, so that no waiting request forces a reload.
    const numCtx = Math.max(...waiters.map((waiter) => waiter.numCtx));
    const first = waiters.find((waiter) => waiter.numCtx === numCtx)!.request;
    const resident = new Resident(this.#clock, line, first, numCtx);
    this.#residents.add(resident);
    this.#evictedAt.delete(line);
    const startedMs = this.#clock.now();
    try {
      const others = [...this.#residents].filter((other) => other !== resident);
      const loadableBytes = () => this.loadableBytes();
      const loading = { resident, others, loadableBytes };
      const placed = await placeResident(this.#settings, this.#parts, loading);
      if (placed !== null) {
        const { name } = first.model;
        this.#decisions.add(
          name,
          "load",
          `${waiters.length} waiting, context length ${numCtx}${because(first.load)}, ${placed.choice.why}`,
        );
        const onRetry = (why: string) => this.#decisions.add(name, "retry", why);
        const chooseWindow = waiters.some(({ request }) => request.sizing !== undefined)
          ? (vocabulary: LoadedVocabulary) => this.#chooseWindow(loading, vocabulary, placed)
          : undefined;
        resident.ready(
          await loadRunner(this.#settings, this.#parts, resident, {
            ...{ placed, onRetry, chooseWindow },
            onGrow: (bytes) => this.#grow(resident, bytes),
          }),
        );
        this.#coolDown.clear(line);
        const why = `context length ${resident.numCtx}${describeCache(resident)}, ${describeDevices(resident)}`;
        this.#decisions.add(name, "ready", why, this.#clock.now() - startedMs);
        void resident.runner?.exited.then((exit) => this.#died(resident, exit));
        if (this.#closing) this.#unload(resident, "unload", "the server is shutting down");
      } else {
        // Nothing has become free: another line that needs memory must not try again because of this one.
        this.#forget(resident);
        // If another model has gone meanwhile, what it had may be enough. Nobody might be left to make room.
        if (others.every((other) => this.#residents.has(other))) this.#needsMemory.add(line);
      }
    } catch (error) {
      this.#remove(resident);
      this.#loadFailed(resident, error);
    }
    this.#dispatch();
  }

  /**
   * A loaded model needs more of its memory, which other models could have had until now. What another one loads with, or
   * waits for, is not given away: the model then goes on with what it has.
   */
  #grow(resident: Resident, bytes: number): number {
    const waiting = this.#queue.heads().find(({ line }) => this.#needsMemory.has(line));
    if (waiting !== undefined)
      return this.#granted(resident, bytes, 0, `${waiting.request.model.name} waits for memory`);
    const loading = [...this.#residents].filter(({ state }) => state === "loading");
    const loadingBytes = loading.reduce((sum, { hostBytes }) => sum + hostBytes, 0);
    const granted = Math.max(0, Math.min(bytes, Math.floor(this.loadableBytes() - loadingBytes)));
    if (granted > 0) this.#parts.conversations?.makeRoom(loadingBytes + granted);
    const [other] = loading;
    return this.#granted(
      resident,
      bytes,
      granted,
      other === undefined ? "memory is short" : `${other.model.name} loads`,
    );
  }

  /** Remembers what was refused, and logs it once until all that is asked for is granted again. */
  #granted(resident: Resident, asked: number, granted: number, why: string): number {
    const bytes = asked - granted;
    if (bytes > 0 && resident.refusedGrowth === null)
      this.#decisions.add(
        resident.model.name,
        "refuse",
        `its cache could not grow by ${bytes} bytes: ${why}`,
      );
    resident.refusedGrowth = bytes > 0 ? { bytes, why, atMs: this.#clock.now() } : null;
    return granted;
  }

  /**
   * Widens the window to what the waiting requests need. A request whose window cannot be chosen fails for the same
   * reason when it runs.
   */
  async #chooseWindow(loading: Loading, vocabulary: LoadedVocabulary, placed: Placed): Promise<Placed> {
    const { line, numCtx } = loading.resident;
    const wishes = await Promise.all(
      this.#queue
        .line(line)
        .map(async ({ request }) => (await request.sizing?.(vocabulary).catch(() => null)) ?? null),
    );
    const largest = wishes
      .filter((wish) => wish !== null)
      .reduce<LoadWish | null>((a, b) => (a === null || b.numCtx > a.numCtx ? b : a), null);
    if (largest === null || largest.numCtx <= numCtx) return placed;
    return await widen(this.#settings, this.#parts, loading, largest, placed);
  }

  /** Rejects all requests waiting for the model; later ones get the same error until the cool-down ends. */
  #loadFailed(resident: Resident, cause: unknown): void {
    if (resident.abortLoad.signal.aborted) {
      this.#decisions.add(resident.model.name, "unload", "load aborted, no request is waiting for it");
      return;
    }
    const error = loadError(cause);
    this.#coolDown.fail(resident.line, error);
    this.#decisions.add(resident.model.name, "fail", error.message);
    for (const waiter of this.#queue.take(resident.line)) waiter.settle.reject(error);
  }

  #died(resident: Resident, { asked, stalled }: RunnerExit): void {
    if (asked || !this.#residents.has(resident)) return;
    const why = stalled ? "its process made no progress and was killed" : "its process exited unexpectedly";
    this.#decisions.add(resident.model.name, "died", why);
    this.#remove(resident);
    this.#dispatch();
  }

  #expired(resident: Resident): void {
    this.#unload(resident, "unload", "keep-alive expired");
  }

  #unloadDrained(resident: Resident, { why, toMakeRoom }: NonNullable<Resident["draining"]>): void {
    this.#unload(resident, toMakeRoom ? "evict" : "unload", why);
  }

  /** Stops the process; its place becomes free once its memory has been released. */
  #unload(resident: Resident, what: "evict" | "unload", why: string): void {
    if (resident.state !== "ready") return;
    resident.state = "leaving";
    resident.cancelExpiry();
    this.#decisions.add(resident.model.name, what, why);
    void resident.runner!.close().finally(() => {
      this.#remove(resident);
      this.#dispatch();
    });
  }

  /** A model is gone and its memory is free. */
  #remove(resident: Resident): void {
    this.#needsMemory.clear();
    this.#forget(resident);
  }

  #forget(resident: Resident): void {
    this.#residents.delete(resident);
    resident.cancelExpiry();
    resident.gone.resolve();
  }

  #isAwaited(matches: (model: RunnableModel) => boolean): boolean {
    return this.#queue
      .lines()
      .some((line) => this.#queue.line(line).some(({ request }) => matches(request.model)));
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

function because({ whyCtx }: LoadWish): string {
  return whyCtx === undefined ? "" : ` (${whyCtx})`;
}

function describeCache({ cells }: Resident): string {
  return cells === undefined ? "" : `, the slots share a cache of ${counted(cells, "token")}`;
}

function describeDevices({ runner, choice }: Resident): string {
  const devices = runner?.info.devices ?? [];
  const where = devices.length === 0 ? "on the CPU" : `on ${devices.map(({ name }) => name).join(", ")}`;
  return `${where} (${choice?.why ?? ""})`;
}

/** Turns the cause of a failed load into the error that clients see. */
function loadError(cause: unknown): LocallmError {
  if (!(cause instanceof LocallmError)) return unexpected(cause);
  if (cause.code !== "runner_died") return cause;
  const reason = `its process exited (${cause.details["reason"]})`;
  return new LocallmError("model_load_failed", { reason }, { cause });
}

/** The message contains no path, because clients see it. The log contains the cause. */
function unexpected(cause: unknown): LocallmError {
  const code = (cause as NodeJS.ErrnoException | null)?.code;
  const reason = typeof code === "string" ? `its files cannot be read (${code})` : "see the server log";
  return new LocallmError("model_load_failed", { reason }, { cause });
}
