import { availableParallelism, cpus } from "node:os";
import { ThreadComparison, type ThreadNumber } from "./thread-comparison.ts";

/** Processor time so far in milliseconds: used on the whole machine, used by this process, and unused. */
export interface ProcessorTime {
  readonly nowMs: number;
  readonly machineMs: number;
  readonly ownMs: number;
  readonly idleMs: number;
}

/** Steps that only compute answers have one row for each; other steps have prompt rows too. */
export type StepKind = "answers" | "prompts";

/** Decides how many threads compute a step. */
export interface Threads {
  readonly most: number;
  /** Whether the next step with prompt rows should be short, because its time is compared with another's. */
  readonly measuresPrompts: boolean;
  /** Called when a step begins. Returns the number of threads for it. */
  begin(nowMs: number, kind: StepKind): number;
  /** `rows` is 0 if the step did not complete. */
  end(nowMs: number, rows: number): void;
  /** Called when no step follows. */
  rest(): void;
}

/**
 * Returns the requested number of threads, limited to the number of processors. More threads would wait for
 * each other forever.
 */
export function fixedThreads(asked: number, processors = availableParallelism()): Threads {
  const most = Math.min(asked, processors);
  return { most, measuresPrompts: false, begin: () => most, end() {}, rest() {} };
}

const lookEveryMs = 250;
/** After a pause of this length, the load that was measured before it no longer predicts the next steps. */
const pauseMs = 30;
/**
 * After a pause or a change of their number, the system needs this long to spread the threads over the cores.
 * Steps until then are not measured.
 */
const settlingMs = 250;
/**
 * The numbers of threads are compared if other programs use the first number of cores and this process lacks
 * as much, and no longer if they use less than the second number.
 */
const crowdedCores = 0.6;
const freeCores = 0.35;
/** If the use of other programs changes by this many cores, the numbers of threads are compared again. */
const changedCores = 0.4;

/**
 * Computes with all threads, unless other programs need their cores. Then it compares all threads with as
 * many as have a core of their own, and uses the faster number, for answers and for prompts separately.
 */
export class SharedThreads implements Threads {
  readonly most: number;
  readonly #read: () => ProcessorTime;
  readonly #comparisons: Record<StepKind, ThreadComparison> = {
    answers: new ThreadComparison(),
    prompts: new ThreadComparison(),
  };
  #last: ProcessorTime;
  #isCrowded = false;
  #fewer: number;
  /** The step that is being computed. */
  #step = { beganMs: 0, count: 0, kind: "answers" as StepKind };
  /** Since when steps follow each other with the same number of threads. */
  #steadySinceMs = Number.NEGATIVE_INFINITY;
  #endedMs = Number.NEGATIVE_INFINITY;
  /** The processor time that the steps since the last look needed, and their numbers of threads. */
  #neededMs = 0;
  readonly #counts = new Set<number>();
  /** How many cores other programs used beside each number of threads. */
  readonly #others = new Map<number, number>();

  constructor(most: number, read: () => ProcessorTime = readProcessorTime) {
    this.most = most;
    this.#fewer = most;
    this.#read = read;
    this.#last = read();
  }

  get measuresPrompts(): boolean {
    return this.#isCrowded && this.#comparisons.prompts.isMeasuring;
  }

  begin(nowMs: number, kind: StepKind): number {
    if (this.most > 1) {
      if (nowMs - this.#endedMs > pauseMs) {
        this.#steadySinceMs = nowMs;
        this.#lookAtPause();
      } else if (nowMs - this.#last.nowMs >= lookEveryMs) {
        this.#look();
      }
    }
    const number: ThreadNumber = this.#isCrowded ? this.#comparisons[kind].begin() : "all";
    const count = number === "all" ? this.most : this.#fewer;
    if (count !== this.#step.count) this.#steadySinceMs = nowMs;
    this.#step = { beganMs: nowMs, count, kind };
    this.#counts.add(count);
    return count;
  }

  end(nowMs: number, rows: number): void {
    const { beganMs, count, kind } = this.#step;
    this.#endedMs = nowMs;
    this.#neededMs += count * (nowMs - beganMs);
    const isSettled = beganMs - this.#steadySinceMs >= settlingMs;
    if (rows === 0) return;
    if (this.#isCrowded) this.#comparisons[kind].end(rows, nowMs - beganMs, isSettled);
    else this.#comparisons[kind].passed(nowMs - beganMs);
  }

  rest(): void {
    if (this.most > 1) this.#passed();
  }

  /** While this process computes nothing, other programs show what they need. */
  #lookAtPause(): void {
    const { spanMs, others, idle } = this.#passed();
    if (spanMs < lookEveryMs) return;
    if (others <= freeCores) this.#isCrowded = false;
    else if (!this.#isCrowded && idle <= freeCores) this.#crowd(others);
  }

  #look(): void {
    const counts = [...this.#counts];
    const { own, others, needed } = this.#passed();
    if (!this.#isCrowded) {
      if (others >= crowdedCores && own < needed - crowdedCores) this.#crowd(others);
    } else if (others <= freeCores) {
      this.#isCrowded = false;
    } else {
      this.#fewer = this.#fitting(others);
      if (counts.length === 1) this.#compareLoad(counts[0]!, others);
    }
  }

  #crowd(others: number): void {
    this.#isCrowded = true;
    this.#fewer = this.#fitting(others);
    this.#loadChanged();
  }

  /** How many threads have a core of their own beside other programs. At least one core is theirs. */
  #fitting(others: number): number {
    return Math.max(1, this.most - Math.max(1, Math.ceil(others - freeCores)));
  }

  /** Other programs use more beside fewer threads, so only looks with one number of threads are compared. */
  #compareLoad(count: number, others: number): void {
    const before = this.#others.get(count);
    if (before === undefined) this.#others.set(count, others);
    else if (Math.abs(others - before) >= changedCores) this.#loadChanged();
  }

  #loadChanged(): void {
    this.#others.clear();
    for (const comparison of Object.values(this.#comparisons)) comparison.loadChanged();
  }

  /** How many cores were used and needed since the last look. Begins the next one. */
  #passed() {
    const before = this.#last;
    const now = this.#read();
    this.#last = now;
    const spanMs = now.nowMs - before.nowMs;
    const own = (now.ownMs - before.ownMs) / spanMs;
    const others = Math.max(0, (now.machineMs - before.machineMs) / spanMs - own);
    const idle = (now.idleMs - before.idleMs) / spanMs;
    const needed = this.#neededMs / spanMs;
    this.#neededMs = 0;
    this.#counts.clear();
    return { spanMs, own, others, idle, needed };
  }
}

/** How many threads have a core of their own, if other programs go on using what they used between two looks. */
export function threadsBeside(most: number, before: ProcessorTime, now: ProcessorTime): number {
  const spanMs = now.nowMs - before.nowMs;
  const own = now.ownMs - before.ownMs;
  const others = Math.max(0, now.machineMs - before.machineMs - own) / spanMs;
  return Math.max(1, most - Math.max(0, Math.ceil(others - freeCores)));
}

export function readProcessorTime(): ProcessorTime {
  let machineMs = 0;
  let idleMs = 0;
  for (const { times } of cpus()) {
    machineMs += times.user + times.nice + times.sys + times.irq;
    idleMs += times.idle;
  }
  const { user, system } = process.cpuUsage();
  return { nowMs: performance.now(), machineMs, ownMs: (user + system) / 1000, idleMs };
}
