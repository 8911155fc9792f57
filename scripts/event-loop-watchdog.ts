import { appendFileSync, readFileSync } from "node:fs";
import { Session } from "node:inspector";
import { workerData } from "node:worker_threads";

/**
 * Runs in a worker beside the thread that it watches. The main thread moves a beat between its tasks. A beat that
 * stands still while the main thread uses more than `limitMs` of processor time is a task that is too long: the
 * debugger stops the thread for a moment and tells its stack. Time that other programs of a busy machine take does not
 * count.
 */
export interface WatchedThread {
  /** One number, which grows after each task. It stays at 0 while the thread does work that may take long. */
  readonly beat: SharedArrayBuffer;
  /** A line of JSON for each long task. */
  readonly report: string;
  readonly limitMs: number;
}

export interface LongTask {
  /** Processor time when the stack was taken. The task may have gone on. */
  readonly ranMs: number;
  /** The innermost call first: "function file:line". Empty if the task ended before it could be stopped. */
  readonly stack: readonly string[];
}

const { beat: shared, report, limitMs } = workerData as WatchedThread;
const beat = new Int32Array(shared);
const accounting = `/proc/self/task/${process.pid}/schedstat`;

let seen = Atomics.load(beat, 0);
let ranBeforeMs = processorTimeMs();
/** Connected to the thread, while its task is suspicious. */
let session: Session | undefined;
let isPausing = false;

setInterval(() => {
  const now = Atomics.load(beat, 0);
  const ran = processorTimeMs();
  if (now !== seen || now === 0) {
    seen = now;
    ranBeforeMs = ran;
    // A process cannot end while a debugger is connected.
    session?.disconnect();
    session = undefined;
    isPausing = false;
    return;
  }
  // The debugger first reads the list of all scripts.
  if (ran - ranBeforeMs > limitMs / 2) session ??= connect();
  if (ran - ranBeforeMs > limitMs && !isPausing) {
    isPausing = true;
    session?.post("Debugger.pause");
  }
}, 10);

function connect(): Session {
  const debug = new Session();
  const scripts = new Map<string, string>();
  const task = seen;
  debug.connectToMainThread();
  debug.on("Debugger.scriptParsed", ({ params }) => void scripts.set(params.scriptId, params.url));
  debug.on("Debugger.paused", ({ params }) => {
    const isSameTask = Atomics.load(beat, 0) === task;
    const ranMs = Math.round(processorTimeMs() - ranBeforeMs);
    debug.post("Debugger.resume");
    const frames = params.callFrames.map(({ functionName, location }) => {
      const url = scripts.get(location.scriptId) ?? "";
      return `${functionName || "(anonymous)"} ${url}:${location.lineNumber + 1}`;
    });
    const line: LongTask = { ranMs, stack: isSameTask ? frames : [] };
    appendFileSync(report, `${JSON.stringify(line)}\n`);
  });
  debug.post("Debugger.enable");
  return debug;
}

/** Processor time of the main thread. The kernel counts it in nanoseconds. */
function processorTimeMs(): number {
  return Number.parseInt(readFileSync(accounting, "utf8"), 10) / 1e6;
}
