import { LocallmError } from "../wire/errors.ts";
import type { Quantizer } from "../wire/inference/quantize.ts";
import { forkShort } from "./ask-child.ts";
import { receiveError } from "./protocol.ts";
import type { QuantizeMessage } from "./quantize-child.ts";

export const quantizeInChild: Quantizer = async (job, onReport, signal) => {
  signal.throwIfAborted();
  const child = forkShort("quantize-child");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => {
    child.kill("SIGKILL");
    reject(signal.reason);
  };
  signal.addEventListener("abort", stop, { once: true });
  const died = (reason: string, cause?: Error) =>
    reject(new LocallmError("quantize_failed", { reason: `its process ended (${reason})` }, { cause }));
  child.on("message", (message: QuantizeMessage) => {
    if ("report" in message) onReport(message.report);
    else if (message.end === null) resolve();
    else reject(receiveError(message.end));
  });
  child.once("error", (error) => died(error.message, error));
  child.once("exit", (code, ended) => died(ended ?? `exit code ${code}`));
  child.send(job, () => {});
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    child.kill("SIGKILL");
  }
};
