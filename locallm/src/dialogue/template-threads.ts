import { TemplateError, TemplateOverBudget, TemplateRefusal } from "../template/limits.ts";
import { BudgetedThreads, type ThreadBudget } from "./budgeted-threads.ts";
import type { TemplateResults, Templates, TemplateTask, TemplateWork } from "./template-work.ts";

/** These numbers are documented in docs/locallm/limits.md. */
export const templateBudget: ThreadBudget = {
  quickThreads: 2,
  slowThreads: 2,
  quickMs: 100,
  processorMs: 1000,
  memoryMb: 512,
  idleMs: 1_000,
};

/** Threads stay this long once there are conversations: starting one would delay the next turn by about 50 ms. */
const conversationIdleMs = 5 * 60_000;

/** A task with a longer conversation counts as slow from the start. */
const quickChars = 1_000_000;

/** `kind` is `refused` if the template itself rejects the conversation. */
export interface TemplateFault {
  readonly kind: "failed" | "refused";
  readonly problem: string;
}

/** Runs template work in threads, because templates may be hostile. */
export class TemplateThreads implements Templates {
  readonly #threads: BudgetedThreads<TemplateTask, TemplateResults[keyof TemplateResults], TemplateFault>;

  constructor(budget: ThreadBudget = templateBudget) {
    const module = new URL("template-thread", import.meta.url);
    this.#threads = new BudgetedThreads({ module, name: "locallm templates", budget });
  }

  async run<Kind extends keyof TemplateWork>(
    kind: Kind,
    work: TemplateWork[Kind],
    signal?: AbortSignal,
  ): Promise<TemplateResults[Kind]> {
    const task = { kind, ...work } as TemplateTask;
    if (kind === "render") this.#threads.keepLonger(conversationIdleMs);
    const outcome = await this.#threads.run(task, isLarge(task), signal);
    if (outcome.kind === "done") return outcome.result as TemplateResults[Kind];
    if (outcome.kind === "over_budget") throw new TemplateOverBudget(outcome.limit);
    if (outcome.kind === "not_sent")
      throw new TemplateError(`cannot take this conversation: ${outcome.reason}`);
    const { kind: reason, problem } = outcome.fault;
    throw reason === "refused" ? new TemplateRefusal(problem) : new TemplateError(problem);
  }

  /** Ends all threads; running tasks fail. */
  close(): void {
    this.#threads.close();
  }
}

/** Whether the task's texts exceed the limit. Stops counting at the limit. */
function isLarge(task: TemplateTask): boolean {
  if (task.kind === "insert") return task.prompt.length + task.suffix.length > quickChars;
  if (task.kind !== "render") return false;
  let chars = 0;
  for (const { content, thinking = "" } of task.turn.messages) {
    chars += content.length + thinking.length;
    if (chars > quickChars) return true;
  }
  return false;
}
