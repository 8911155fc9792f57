import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { RunnerStart, StartRunner } from "./handle.ts";
import { RunnerProcess } from "./process.ts";

/**
 * Starts a process and loads the model into it. Refused with `engine_missing`, `engine_mismatch`,
 * `model_load_failed`, `runner_died`, or the signal's reason.
 */
export const startRunner: StartRunner = async (load, start = {}) => {
  start.signal?.throwIfAborted();
  const child = new RunnerProcess(forkRunner(start), start);
  await child.load(load, start.signal);
  return child;
};

/** The same, and what the first start finds out about the machine spares the next ones the search. */
export function rememberingStart(): StartRunner {
  let processorFile: string | null = null;
  return async (load, start) => {
    const isPlain = load.placement.library === null;
    const runner = await startRunner(isPlain ? { ...load, processorFile } : load, start);
    if (isPlain) processorFile = runner.info.engine.processorFile;
    return runner;
  };
}

/** The runner's own garbage is some kilobytes a token; see docs/decisions on the engine for what this saves. */
const smallHeap = {
  env: { MALLOC_ARENA_MAX: "1" },
  execArgv: ["--max-semi-space-size=1"],
};

/**
 * An engine that stops the process must stop it at once: to print a backtrace it would first fork, look for a
 * debugger and wait for it, while the request waits too.
 */
const quickDeath = { GGML_NO_BACKTRACE: "1" };

/** What every process has that opens the engine. */
export function runnerEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: handed on whole, not read
  return { ...process.env, ...quickDeath, ...more };
}

function forkRunner({ env }: RunnerStart) {
  // As source it runs as it is; published, both are JavaScript.
  const isSource = import.meta.url.endsWith(".ts");
  const file = isSource ? "./child.ts" : "./child.js";
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...runnerEnvironment(env), ...smallHeap.env },
    // Source needs the conditions that we were started with. An embedding program's flags (`--eval`, `--inspect`) are its own.
    execArgv: [...(isSource ? process.execArgv : []), ...smallHeap.execArgv],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}
