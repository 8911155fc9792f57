import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";

/**
 * Returns the number of physical cores that this process may use, because two threads on one core delay each
 * other. Returns the number of all processors if the system does not report its cores.
 */
export function physicalCores(folder = "/sys/devices/system/cpu"): number {
  const cores = new Set<string>();
  try {
    for (const name of readdirSync(folder)) {
      if (!/^cpu\d+$/.test(name)) continue;
      cores.add(readFileSync(`${folder}/${name}/topology/core_cpus_list`, "utf8").trim());
    }
  } catch {
    return availableParallelism();
  }
  return Math.max(1, Math.min(cores.size || availableParallelism(), availableParallelism()));
}

/** Processor time so far in milliseconds, of the whole machine and of this process. */
export interface ProcessorTime {
  readonly nowMs: number;
  readonly machineMs: number;
  readonly ownMs: number;
}

/** Decides how many threads compute a step. */
export interface Threads {
  readonly most: number;
  /** Called when a step begins. Returns the number of threads for it. */
  begin(nowMs: number): number;
  end(nowMs: number): void;
}

/**
 * Returns the requested number of threads, limited to the number of processors. More threads would wait for
 * each other forever.
 */
export function fixedThreads(asked: number, processors = availableParallelism()): Threads {
  const most = Math.min(asked, processors);
  return { most, begin: () => most, end() {} };
}

const lookEveryMs = 250;
/** After a pause of this length, the load that was measured before it no longer predicts the next steps. */
const pauseMs = 30;
/**
 * A thread is released if other programs use this many cores, and added again if they use less than the
 * second number.
 */
const giveUpCores = 0.6;
const takeBackCores = 0.35;

/**
 * Other programs use whatever this process leaves free, even if this process has a higher priority. So after
 * this many looks all threads are tried again. The number of looks doubles each time that this fails.
 */
const firstTrialLooks = 8;
const mostTrialLooks = 64;

/**
 * Determines how many threads compute. The engine's threads wait for each other in a busy loop hundreds of
 * times per token. If another program occupies one of their cores, each wait lasts until the system returns
 * that core, and two threads are ten times slower than one. So one thread is released for each core that
 * other programs keep busy.
 */
export class SharedThreads implements Threads {
  readonly most: number;
  readonly #read: () => ProcessorTime;
  #last: ProcessorTime;
  #trialLooks = firstTrialLooks;
  #looksToTrial = 0;
  #endedMs = Number.NEGATIVE_INFINITY;
  #count: number;

  constructor(most: number, read: () => ProcessorTime = readProcessorTime) {
    this.most = most;
    this.#count = most;
    this.#read = read;
    this.#last = read();
  }

  begin(nowMs: number): number {
    if (nowMs - this.#endedMs > pauseMs) this.#last = this.#read();
    else if (nowMs - this.#last.nowMs >= lookEveryMs) this.#look();
    return this.#count;
  }

  end(nowMs: number): void {
    this.#endedMs = nowMs;
  }

  #look(): void {
    const before = this.#last;
    const now = this.#read();
    this.#last = now;
    const spanMs = now.nowMs - before.nowMs;
    const own = (now.ownMs - before.ownMs) / spanMs;
    const others = Math.max(0, (now.machineMs - before.machineMs) / spanMs - own);
    const starved = others >= giveUpCores && own < this.#count - giveUpCores;
    const up = Math.max(1, this.most - Math.ceil(others - takeBackCores));
    if (starved) {
      const down = Math.max(1, this.most - Math.floor(others + 1 - giveUpCores));
      if (this.#count === this.most) this.#looksToTrial = this.#trialLooks;
      this.#trialLooks = Math.min(mostTrialLooks, this.#trialLooks * 2);
      this.#count = Math.min(this.#count, down);
    } else if (up > this.#count) {
      this.#count = up;
      this.#trialLooks = firstTrialLooks;
    } else if (this.#count < this.most && --this.#looksToTrial <= 0) {
      this.#count = this.most;
    }
  }
}

function readProcessorTime(): ProcessorTime {
  let machineMs = 0;
  for (const { times } of cpus()) machineMs += times.user + times.nice + times.sys + times.irq;
  const { user, system } = process.cpuUsage();
  return { nowMs: performance.now(), machineMs, ownMs: (user + system) / 1000 };
}
