// Measures one model. Runs in a separate process, so that no model's memory affects the next one's figures.

import { benchEngine } from "../engine/bench.ts";
import type { BenchFigures, BenchJob, BenchStage } from "../wire/inference/bench.ts";
import type { ChildReport } from "./ask-child.ts";
import { type SentError, sendError } from "./protocol.ts";

export type BenchEnd = { readonly figures: BenchFigures } | { readonly error: SentError };

process.once("disconnect", () => process.exit(0));
process.once("message", async (job: BenchJob) => {
  const send = (message: BenchEnd | ChildReport<BenchStage>) =>
    new Promise<void>((resolve) => process.send?.(message, () => resolve()) ?? resolve());
  try {
    await send({ figures: await benchEngine(job, (report) => void send({ report })) });
  } catch (error) {
    await send({ error: sendError(error) });
  }
  process.exit(0);
});
