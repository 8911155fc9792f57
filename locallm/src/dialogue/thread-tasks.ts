import { parentPort } from "node:worker_threads";
import type { ThreadReport } from "./budgeted-threads.ts";

/**
 * Runs in the threads of `BudgetedThreads`. It runs one task after another and sends one report for each.
 * `faultOf` returns null for unexpected errors, which end the thread.
 */
export function doTasks<Task, Result, Fault>(
  work: (task: Task) => Result,
  faultOf: (error: unknown) => Fault | null,
): void {
  const report = (outcome: Outcome<Result, Fault>) => {
    const { user, system } = process.threadCpuUsage();
    parentPort?.postMessage({ ...outcome, processorMs: (user + system) / 1000 });
  };
  parentPort?.on("message", (task: Task) => {
    try {
      report({ kind: "done", result: work(task) });
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null) throw error;
      report({ kind: "failed", fault });
    }
  });
  report({ kind: "ready" });
}

type Outcome<Result, Fault> =
  ThreadReport<Result, Fault> extends infer Each
    ? Each extends unknown
      ? Omit<Each, "processorMs">
      : never
    : never;
