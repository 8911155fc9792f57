import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";

/**
 * Physical cores that this process may use: a second thread on a core only makes the first one wait. Where
 * the system does not tell, all processors.
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

/** Processor time up to a moment, in milliseconds: of the whole machine, and of this process. */
export interface ProcessorTime {
  readonly nowMs: number;
  readonly machineMs: number;
  readonly ownMs: number;
}

const lookEveryMs = 300;
/** A span longer than this says nothing about now. */
const staleMs = 20_000;
/** Cores that others must want before a thread is given up, and leave before it is taken back. */
const giveUpCores = 0.5;
const takeBackCores = 0.25;

/**
 * How many threads compute. The engine's threads wait for each other in a busy loop hundreds of times a
 * token; where another program holds one of their cores, each of these waits lasts until the system takes
 * that core back, and two threads are ten times slower than one. So a thread is given up for each core that
 * others keep busy.
 */
export class ThreadCount {
  readonly most: number;
  readonly #read: () => ProcessorTime;
  #last: ProcessorTime;
  #count: number;

  constructor(most: number, read: () => ProcessorTime = readProcessorTime) {
    this.most = most;
    this.#count = most;
    this.#read = read;
    this.#last = read();
  }

  /** The count for the next step. */
  now(nowMs: number): number {
    if (nowMs - this.#last.nowMs >= lookEveryMs) this.#look();
    return this.#count;
  }

  #look(): void {
    const before = this.#last;
    const now = this.#read();
    this.#last = now;
    const spanMs = now.nowMs - before.nowMs;
    if (spanMs > staleMs) return;
    const others = Math.max(0, now.machineMs - before.machineMs - (now.ownMs - before.ownMs)) / spanMs;
    const down = Math.max(1, this.most - Math.floor(others + 1 - giveUpCores));
    const up = Math.max(1, this.most - Math.ceil(others - takeBackCores));
    if (this.#count > down) this.#count = down;
    else if (this.#count < up) this.#count = up;
  }
}

function readProcessorTime(): ProcessorTime {
  let machineMs = 0;
  for (const { times } of cpus()) machineMs += times.user + times.nice + times.sys + times.irq;
  const { user, system } = process.cpuUsage();
  return { nowMs: performance.now(), machineMs, ownMs: (user + system) / 1000 };
}
