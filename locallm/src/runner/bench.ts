import { LocallmError } from "../wire/errors.ts";
import type { BenchFigures, BenchJob, BenchStage } from "../wire/inference/bench.ts";
import { forkShort } from "./ask-child.ts";
import type { BenchMessage } from "./bench-child.ts";
import { receiveError } from "./protocol.ts";

/** Measures a model in a process of its own, which ends afterwards. Throws the errors of a load. */
export async function benchInChild(
  job: BenchJob,
  env: Readonly<Record<string, string>>,
  onStage: (stage: BenchStage) => void,
): Promise<BenchFigures> {
  const child = forkShort("bench-child", env);
  try {
    return await new Promise((resolve, reject) => {
      const died = (reason: string) => reject(new LocallmError("runner_died", { reason }));
      child.on("message", (message: BenchMessage) => {
        if ("stage" in message) onStage(message.stage);
        else if ("figures" in message) resolve(message.figures);
        else reject(receiveError(message.error));
      });
      child.once("error", ({ message }) => died(message));
      child.once("exit", (code, signal) => died(signal ?? `exit code ${code}`));
      child.send(job, () => {});
    });
  } finally {
    child.kill("SIGKILL");
  }
}
