import { parentPort } from "node:worker_threads";
import { TemplateError, TemplateRefusal } from "../template/limits.ts";
import type { ThreadReport } from "./template-threads.ts";
import { type TemplateTask, TemplateWorker } from "./template-work.ts";

// Runs in the threads of `TemplateThreads`: one task after another, each answered by one report.

type Outcome = ThreadReport extends infer Each
  ? Each extends unknown
    ? Omit<Each, "processorMs">
    : never
  : never;

const worker = new TemplateWorker();

function report(outcome: Outcome): void {
  const { user, system } = process.threadCpuUsage();
  parentPort?.postMessage({ ...outcome, processorMs: (user + system) / 1000 });
}

parentPort?.on("message", (task: TemplateTask) => {
  try {
    report({ kind: "done", result: worker.do(task) });
  } catch (error) {
    if (error instanceof TemplateRefusal) report({ kind: "refused", problem: error.message });
    else if (error instanceof TemplateError) report({ kind: "failed", problem: error.message });
    else if (error instanceof RangeError) report({ kind: "failed", problem: "is nested or grows too deep" });
    else throw error;
  }
});
report({ kind: "ready" });
