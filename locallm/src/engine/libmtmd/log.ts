import koffi from "koffi";
import type { Functions, Pointer } from "../libllama/functions.ts";
import { withoutPaths } from "../libllama/without-paths.ts";
import type { MtmdFunctions } from "./library.ts";

const errorLevel = 4;
/** Only the first errors are kept, because they name the cause. */
const keptErrors = 3;

/** Returns what `work` returns, and the errors that both libraries logged meanwhile. */
export function hearErrors<Result>(
  library: Pick<Functions, "llama_log_set">,
  mtmd: Pick<MtmdFunctions, "mtmd_log_set">,
  work: () => Result,
): { readonly result: Result; readonly errors: readonly string[] } {
  const errors: string[] = [];
  const callback = koffi.register(
    (level: number, text: string) => {
      const line = text.trim();
      if (level === errorLevel && line !== "" && errors.length < keptErrors) errors.push(withoutPaths(line));
    },
    koffi.pointer(koffi.proto("void", ["int32_t", "str", "void *"])),
  ) as Pointer;
  library.llama_log_set(callback, null);
  mtmd.mtmd_log_set(callback, null);
  try {
    return { result: work(), errors };
  } finally {
    library.llama_log_set(null, null);
    mtmd.mtmd_log_set(null, null);
    koffi.unregister(callback);
  }
}
