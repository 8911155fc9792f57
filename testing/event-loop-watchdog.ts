import { appendFileSync, readFileSync } from "node:fs";
import { Session } from "node:inspector";
import { workerData } from "node:worker_threads";
import { fixedWork, fixedWorkMs } from "./fixed-work.ts";

/**
 * Runs in a worker beside the thread that it watches. The main thread moves a beat between its tasks. A beat that
 * stands still while the main thread uses much processor time is a long task: the debugger stops the thread for a
 * moment and tells its stack, once when the task is long and once more when it is too long. Time that other programs
 * of a busy machine take does not count, and what they slow down is measured: while the task runs, this worker does a
 * fixed piece of work and takes its own processor time for it.
 */
export interface WatchedThread {
  /** One number, which grows after each task. It stays at 0 while the thread does work that may take long. */
  readonly beat: SharedArrayBuffer;
  /** Gets lines of JSON: a `LongTask` each. */
  readonly report: string;
  readonly longestTaskMs: number;
  readonly timesTooLong: number;
}

export interface LongTask {
  /** Processor time when the stack was taken. The task may have gone on. */
  readonly ranMs: number;
  /** What a task may take on this machine at that moment. */
  readonly limitMs: number;
  /** The innermost call first: "function file:line". Empty if the task ended before it could be stopped. */
  readonly stack: readonly string[];
}

const { beat: shared, report, longestTaskMs, timesTooLong } = workerData as WatchedThread;
const beat = new Int32Array(shared);
const mainThread = `/proc/self/task/${process.pid}/schedstat`;
const thisThread = "/proc/thread-self/schedstat";

let seen = Atomics.load(beat, 0);
let ranBeforeMs = processorTimeMs(mainThread);
let limitMs = longestTaskMs;
/** Connected to the thread, while its task is suspicious. */
let session: Session | undefined;
/** How many limits the task may take before its stack is taken next. */
let nextTimes = 1;

setInterval(() => {
  const now = Atomics.load(beat, 0);
  const ran = processorTimeMs(mainThread);
  if (now !== seen || now === 0) {
    seen = now;
    ranBeforeMs = ran;
    // A process cannot end while a debugger is connected.
    session?.disconnect();
    session = undefined;
    return;
  }
  if (session === undefined && ran - ranBeforeMs > longestTaskMs / 2) {
    // The debugger first reads the list of all scripts.
    session = connect();
    limitMs = longestTaskMs;
    nextTimes = 1;
  }
  if (session === undefined || ran - ranBeforeMs <= limitMs * nextTimes) return;
  limitMs = Math.max(limitMs, Math.round(longestTaskMs * slowness()));
  if (ran - ranBeforeMs <= limitMs * nextTimes) return;
  nextTimes = nextTimes === 1 ? timesTooLong : Infinity;
  session.post("Debugger.pause");
}, 10);

/** How many times longer work takes now than on a quiet machine, and never less than 1. */
function slowness(): number {
  let least = Infinity;
  // The first rounds also compile.
  for (let round = 0; round < 3; round++) {
    const before = processorTimeMs(thisThread);
    fixedWork();
    least = Math.min(least, processorTimeMs(thisThread) - before);
  }
  return Math.max(1, least / fixedWorkMs);
}

function connect(): Session {
  const debug = new Session();
  const scripts = new Map<string, string>();
  const task = seen;
  debug.connectToMainThread();
  debug.on("Debugger.scriptParsed", ({ params }) => void scripts.set(params.scriptId, params.url));
  debug.on("Debugger.paused", ({ params }) => {
    const isSameTask = Atomics.load(beat, 0) === task;
    const ranMs = Math.round(processorTimeMs(mainThread) - ranBeforeMs);
    debug.post("Debugger.resume");
    const frames = params.callFrames.map(({ functionName, location }) => {
      const url = scripts.get(location.scriptId) ?? "";
      return `${functionName || "(anonymous)"} ${url}:${location.lineNumber + 1}`;
    });
    const line: LongTask = { ranMs, limitMs, stack: isSameTask ? frames : [] };
    appendFileSync(report, `${JSON.stringify(line)}\n`);
  });
  debug.post("Debugger.enable");
  return debug;
}

/** Processor time of a thread, in milliseconds. The kernel counts it in nanoseconds. */
function processorTimeMs(accounting: string): number {
  return Number.parseInt(readFileSync(accounting, "utf8"), 10) / 1e6;
}
