import { LocallmError } from "../wire/errors.ts";
import type { BenchFigures, BenchJob, BenchStage } from "../wire/inference/bench.ts";
import { askChild, NoAnswer } from "./ask-child.ts";
import type { BenchEnd } from "./bench-child.ts";
import { receiveError } from "./protocol.ts";

/** Measures a model in a process of its own, which ends afterwards. Throws the errors of a load. */
export async function benchInChild(
  job: BenchJob,
  env: Readonly<Record<string, string>>,
  onStage: (stage: BenchStage) => void,
): Promise<BenchFigures> {
  const asking = { env, onReport: onStage };
  const end = await askChild<BenchEnd, BenchStage>("bench-child", job, asking).catch((error: unknown) => {
    if (!(error instanceof NoAnswer)) throw error;
    throw new LocallmError("runner_died", { reason: error.message });
  });
  if ("error" in end) throw receiveError(end.error);
  return end.figures;
}
