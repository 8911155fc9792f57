import type { LoadRequest, ModelInfo } from "../wire/inference/load.ts";
import { askChild, NoAnswer } from "./ask-child.ts";
import type { Measured } from "./measure-child.ts";
import { receiveError } from "./protocol.ts";

/** A dry load reads a header and a vocabulary, possibly from a slow disk. */
const patienceMs = 60_000;

/**
 * The memory that a load would take on the CPU, without adapters, from a dry load in a separate process. Null if that
 * process crashes or takes too long. Throws what the load itself would throw: `model_load_failed`, `engine_missing`,
 * `engine_mismatch`.
 */
export async function measureLoad(request: LoadRequest): Promise<ModelInfo["sizeBytes"] | null> {
  try {
    const answer = await askChild<Measured>("measure-child", request, { patienceMs });
    if ("error" in answer) throw receiveError(answer.error);
    return answer.sizeBytes;
  } catch (cause) {
    if (cause instanceof NoAnswer) return null;
    throw cause;
  }
}
