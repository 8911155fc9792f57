import { TemplateError, TemplateRefusal } from "../template/limits.ts";
import type { TemplateFault } from "./template-threads.ts";
import { TemplateWorker } from "./template-work.ts";
import { doTasks } from "./thread-tasks.ts";

// This module runs in the threads of `TemplateThreads`.

const worker = new TemplateWorker();
doTasks(
  (task: Parameters<TemplateWorker["do"]>[0]) => worker.do(task),
  (error): TemplateFault | null => {
    if (error instanceof TemplateRefusal) return { kind: "refused", problem: error.message };
    if (error instanceof TemplateError) return { kind: "failed", problem: error.message };
    if (error instanceof RangeError) return { kind: "failed", problem: "is nested or grows too deep" };
    return null;
  },
);
