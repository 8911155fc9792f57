import type { Templates } from "../src/dialogue/template-work.ts";
import { TemplateWorker } from "../src/dialogue/template-work.ts";

/** Runs template work on the calling thread, without a budget. */
export function templatesHere(now?: () => Date): Templates {
  const worker = new TemplateWorker(now);
  return {
    run: async (kind, work) => worker.do({ kind, ...work } as never) as never,
  };
}
