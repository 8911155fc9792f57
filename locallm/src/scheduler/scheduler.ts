import type { RunnerExit } from "../runner/handle.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Clock } from "./clock.ts";
import { CoolDown } from "./cool-down.ts";
import { Decisions } from "./decisions.ts";
import type { Lease, LeaseRequest, RunnableModel, Scheduler, SchedulerView } from "./lease.ts";
import { loadRunner, placeResident } from "./loading.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import { Queue, type Waiter } from "./queue.ts";
import { lineOf, Resident, windowOf } from "./residency.ts";
import { chooseVictim } from "./victim.ts";

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
  /** Called once, when something has changed. */
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
      const numCtx = windowOf(request.model, request.load);
      const waiter: Waiter = {
        request,
        line,
        numCtx,
        leastCtx: request.uses === "visit" ? 1 : numCtx,
        keepAliveMs: request.keepAliveMs,
        sinceMs: this.#clock.now(),
        ticket: this.#tickets++,
        settle: { resolve, reject },
      };
      const resident = this.#residentOf(line);
      const isNext = request.uses !== "slot" || this.#queue.head(line) === undefined;
      if (isNext && resident?.hasRoomFor(request, waiter.leastCtx)) {
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
    while (this.#isAwaited(matches)) await new Promise<void>((resolve) => this.#onChange.push(resolve));
    const matching = [...this.#residents].filter((resident) => matches(resident.model));
    for (const resident of matching) resident.draining = { why, forPlace: false };
    this.#dispatch();
    await Promise.all(matching.map((resident) => resident.gone.promise));
  }

  expire(model: RunnableModel): void {
    // Who waits came before: the latest word holds.
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
    this.#dispatch();
    if (!this.#allIdle()) {
      await new Promise<void>((resolve) => {
        this.#becameIdle = resolve;
        this.#clock.after(deadlineMs, resolve);
      });
    }
    const residents = [...this.#residents];
    for (const resident of residents) {
      this.#depart(resident, "unload", "the server stops");
      // One that still computes would hear of it too late.
      if (!resident.isIdle) void resident.runner?.kill();
    }
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
    for (const tell of this.#onChange.splice(0)) tell();
    if (this.#closing) {
      if (this.#allIdle()) this.#becameIdle?.();
      return;
    }
    this.#countTenures();
    for (const head of this.#queue.heads()) this.#grantLine(head.line);
    // Before anybody looks for a victim: it goes for whoever it was emptied for.
    for (const resident of this.#idle())
      if (resident.draining !== null) this.#departDrained(resident, resident.draining);
    for (const head of this.#needingPlace()) this.#makePlace(head);
    for (const resident of this.#idle()) resident.armExpiry(() => this.#expired(resident));
  }

  #idle(): Resident[] {
    return [...this.#residents].filter(({ state, isIdle }) => state === "ready" && isIdle);
  }

  /** Heads of lines that no place, ready or loading, will serve; the one whose turn it is in front. */
  #needingPlace(): Waiter[] {
    const needing = this.#queue.heads().filter((head) => {
      const resident = this.#residentOf(head.line);
      return resident === undefined || resident.draining !== null || resident.numCtx < head.leastCtx;
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
      if (!resident.hasRoomFor(head.request, head.leastCtx)) return;
      this.#queue.remove(head);
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
    const victim = chooseVictim(residents);
    if (victim === null) return;
    const { resident, why } = victim;
    this.#drain(resident, true, `${head.request.model.name} needs its place: ${why}`);
  }

  #drain(resident: Resident, forPlace: boolean, why: string): void {
    resident.draining = { why, forPlace };
    if (forPlace && this.#queue.head(resident.line) !== undefined)
      this.#yielded.set(resident.line, this.#tickets++);
    if (resident.isIdle) this.#departDrained(resident, resident.draining);
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
      const others = [...this.#residents].filter((other) => other !== resident);
      const placed = await placeResident(this.#settings, this.#parts, { resident, request: first, others });
      if (placed !== null) {
        const { name } = first.model;
        this.#decisions.add(
          name,
          "load",
          `${waiters.length} waiting, window ${numCtx}, ${placed.choice.why}`,
        );
        const onRetry = (why: string) => this.#decisions.add(name, "retry", why);
        resident.ready(
          await loadRunner(this.#settings, this.#parts, resident, first, { ...placed, onRetry }),
        );
        this.#coolDown.clear(line);
        const why = `window ${numCtx}, ${whereOf(resident)}`;
        this.#decisions.add(name, "ready", why, this.#clock.now() - startedMs);
        void resident.runner?.exited.then((exit) => this.#died(resident, exit));
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

  /** All who wait for the model fail together; the next one may try again after a pause. */
  #loadFailed(resident: Resident, cause: unknown): void {
    if (resident.abortLoad.signal.aborted) {
      this.#decisions.add(resident.model.name, "unload", "nobody waits for the load any more");
      return;
    }
    const error = loadError(cause);
    this.#coolDown.fail(resident.line, error);
    this.#decisions.add(resident.model.name, "fail", error.message);
    for (const waiter of this.#queue.take(resident.line)) waiter.settle.reject(error);
  }

  #died(resident: Resident, { asked, stalled }: RunnerExit): void {
    if (asked || !this.#residents.has(resident)) return;
    const why = stalled ? "its process made no progress and was ended" : "its process ended by itself";
    this.#decisions.add(resident.model.name, "died", why);
    this.#remove(resident);
    this.#dispatch();
  }

  #expired(resident: Resident): void {
    if (resident.isOpen && resident.isIdle) this.#depart(resident, "unload", "keep-alive ran out");
  }

  #departDrained(resident: Resident, { why, forPlace }: NonNullable<Resident["draining"]>): void {
    this.#depart(resident, forPlace ? "evict" : "unload", why);
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

function whereOf({ runner, choice }: Resident): string {
  const devices = runner?.info.devices ?? [];
  const where =
    devices.length === 0 ? "on the processor" : `on ${devices.map(({ name }) => name).join(", ")}`;
  return `${where} (${choice?.why ?? ""})`;
}

/** What a load's failure is called, wherever it came from. */
function loadError(cause: unknown): LocallmError {
  if (!(cause instanceof LocallmError)) return unexpected(cause);
  if (cause.code !== "runner_died") return cause;
  const reason = `its process ended (${cause.details["reason"]})`;
  return new LocallmError("model_load_failed", { reason }, { cause });
}

/** Says no path: the cause stands in the log. */
function unexpected(cause: unknown): LocallmError {
  const code = (cause as NodeJS.ErrnoException | null)?.code;
  const reason =
    typeof code === "string" ? `its files cannot be read (${code})` : "the server's log says why";
  return new LocallmError("model_load_failed", { reason }, { cause });
}
