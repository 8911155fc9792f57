import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { RunnerStart, StartRunner } from "./handle.ts";
import { RunnerProcess } from "./process.ts";

/**
 * Starts a process and loads the model into it. Rejects with `engine_missing`, `engine_mismatch`,
 * `model_load_failed`, `runner_died`, or the signal's reason.
 */
export const startRunner: StartRunner = async (load, start = {}) => {
  start.signal?.throwIfAborted();
  const child = new RunnerProcess(forkRunner(start), start);
  await child.load(load, start.signal);
  return child;
};

/** Like `startRunner`, but later starts reuse the CPU build that the first start found. */
export function rememberingStart(): StartRunner {
  let processorFile: string | null = null;
  return async (load, start) => {
    const isPlain = load.placement.library === null;
    const runner = await startRunner(isPlain ? { ...load, processorFile } : load, start);
    if (isPlain) processorFile = runner.info.engine.processorFile;
    return runner;
  };
}

/**
 * A runner creates only some kilobytes of garbage per token, so a small heap is enough. docs/decisions/0004
 * describes what this saves.
 */
const smallHeap = {
  env: { MALLOC_ARENA_MAX: "1" },
  execArgv: ["--max-semi-space-size=1"],
};

/**
 * If the engine aborts, the process must end at once. To print a backtrace it would fork, look for a debugger
 * and wait for it, and the request would wait too.
 */
const noBacktrace = { GGML_NO_BACKTRACE: "1" };

/** The environment of every process that loads the engine. */
export function runnerEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: passed on whole, not read
  return { ...process.env, ...noBacktrace, ...more };
}

function forkRunner({ env }: RunnerStart) {
  // The source runs as TypeScript. The published package contains only JavaScript.
  const isSource = import.meta.url.endsWith(".ts");
  const file = isSource ? "./child.ts" : "./child.js";
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...runnerEnvironment(env), ...smallHeap.env },
    // If we run from source, the child needs our `-C` conditions. In a built package, flags such as `--eval`
    // and `--inspect` belong to the embedding program.
    execArgv: [...(isSource ? process.execArgv : []), ...smallHeap.execArgv],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // The rows of pictures travel as bytes: as JSON, 16 MB of them take five times as long. Other messages take the
    // same time.
    serialization: "advanced",
  });
}
