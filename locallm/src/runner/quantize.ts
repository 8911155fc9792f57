import { LocallmError } from "../wire/errors.ts";
import type { QuantizeReport, Quantizer } from "../wire/inference/quantize.ts";
import { askChild, NoAnswer } from "./ask-child.ts";
import { receiveError } from "./protocol.ts";
import type { QuantizeEnd } from "./quantize-child.ts";

export const quantizeInChild: Quantizer = async (job, onReport, signal) => {
  const asking = { onReport, signal };
  const { end } = await askChild<QuantizeEnd, QuantizeReport>("quantize-child", job, asking).catch(
    (error: unknown) => {
      if (!(error instanceof NoAnswer)) throw error;
      const reason = `its process ended (${error.message})`;
      throw new LocallmError("quantize_failed", { reason }, { cause: error.cause });
    },
  );
  if (end !== null) throw receiveError(end);
};
