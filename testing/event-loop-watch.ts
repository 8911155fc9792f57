import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { WatchedThread } from "./event-loop-watchdog.ts";

/**
 * The longest task of an event loop that a test passes without a word, in milliseconds of processor time. Where the
 * machine is slow, it is as much more as `fixedWork` takes more.
 */
export const longestTaskMs = 300;

/**
 * A task that takes so many times the longest one fails its file. Those between are told at the end of the run: a
 * collection of garbage, code that is compiled at its first use and neighbours on the machine also take their time.
 */
export const timesTooLong = 3;

/** Only Linux tells the processor time of each thread where we read it. */
export const canWatch = existsSync(`/proc/self/task/${process.pid}/schedstat`);

export interface Watch {
  stop(): Promise<void>;
}

/** Watches the tasks of this process's main thread. A line for each long one is added to the file `report`. */
export function watchEventLoop(report: string): Watch {
  if (!canWatch) return { stop: async () => {} };
  const beat = new SharedArrayBuffer(4);
  const count = new Int32Array(beat);
  beats.add(count);
  const moveOn = () => {
    if (notServing === 0) Atomics.add(count, 0, 1);
  };
  const timer = setInterval(moveOn, 10);
  timer.unref();
  process.on("exit", moveOn);
  const workerData: WatchedThread = { beat, report, longestTaskMs, timesTooLong };
  const worker = new Worker(new URL("./event-loop-watchdog.ts", import.meta.url), {
    workerData,
    execArgv: [],
    env: {},
  });
  worker.unref();
  return {
    async stop() {
      clearInterval(timer);
      beats.delete(count);
      process.off("exit", moveOn);
      await worker.terminate();
    },
  };
}

/** Watches a server that runs in the process of its test. */
export function watchServerHere(): Watch {
  const folder = process.env["EVENT_LOOP_REPORTS"];
  return folder === undefined ? { stop: async () => {} } : watchEventLoop(join(folder, "here.jsonl"));
}

const beats = new Set<Int32Array>();
let notServing = 0;

/** Does in this process what the products do in a process or a thread of their own, while a server here is watched. */
export async function besideServer<Result>(work: () => Promise<Result>): Promise<Result> {
  notServing++;
  // Standing still at 0 says that what runs is none of the server's.
  for (const count of beats) Atomics.store(count, 0, 0);
  try {
    return await work();
  } finally {
    notServing--;
  }
}
