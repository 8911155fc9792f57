// Measures the memory that a load would take. Runs in a separate process, because the engine may crash on a
// file and because the process's end frees its memory.

import { measureEngine } from "../engine/engine.ts";
import type { LoadRequest, ModelInfo } from "../wire/inference/load.ts";
import { type SentError, sendError } from "./protocol.ts";

export type Measured = { readonly sizeBytes: ModelInfo["sizeBytes"] } | { readonly error: SentError };

process.once("message", (request: LoadRequest) => {
  process.send?.(measure(request), () => process.exit(0));
});

function measure(request: LoadRequest): Measured {
  try {
    return { sizeBytes: measureEngine(request) };
  } catch (error) {
    return { error: sendError(error) };
  }
}
