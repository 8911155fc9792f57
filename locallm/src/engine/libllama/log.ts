import koffi from "koffi";
import { LocallmError } from "../../wire/errors.ts";
import type { Functions, Pointer } from "./functions.ts";
import { withoutPaths } from "./without-paths.ts";

const debugLevel = 1;
const errorLevel = 4;
/** Only the first errors are kept, because they name the cause. Later ones only report the failure. */
const keptErrors = 3;

/**
 * Captures the engine's log while `work` runs. Afterwards the engine writes to standard error again. If
 * `work` throws `model_load_failed`, the engine's own errors become part of its reason, because only they say
 * what is wrong with a file.
 */
export function hearLog<Result>(
  library: Pick<Functions, "llama_log_set">,
  onLine: (line: string) => void,
  work: () => Result,
): Result {
  const errors: string[] = [];
  const callback = koffi.register(
    (level: number, text: string) => {
      if (level === debugLevel) return;
      const line = text.trimEnd();
      onLine(line);
      if (level === errorLevel && line !== "" && errors.length < keptErrors) errors.push(withoutPaths(line));
    },
    koffi.pointer(koffi.proto("void", ["int32_t", "str", "void *"])),
  );
  library.llama_log_set(callback as Pointer, null);
  try {
    return work();
  } catch (error) {
    if (errors.length === 0 || !(error instanceof LocallmError) || error.code !== "model_load_failed")
      throw error;
    const reason = `${error.details["reason"]}: ${errors.join("; ")}`;
    throw new LocallmError("model_load_failed", { reason }, { cause: error });
  } finally {
    library.llama_log_set(null, null);
    koffi.unregister(callback);
  }
}
