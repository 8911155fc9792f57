import type { LoadRequest, ModelInfo } from "../wire/inference/load.ts";
import { askChild, NoAnswer } from "./ask-child.ts";
import type { Measured } from "./measure-child.ts";
import { receiveError } from "./protocol.ts";

/** The time limit of a dry load, which reads a header and a vocabulary, possibly from a slow disk. */
const patienceMs = 60_000;

/**
 * Measures the memory that a load would take on the CPU, without adapters, by a dry load in a separate
 * process. Returns null if that process crashes or takes too long. Throws the errors of a real load:
 * `model_load_failed`, `engine_missing`, `engine_mismatch`.
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
