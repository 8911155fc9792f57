import koffi from "koffi";
import "../call-stack.ts";
import type { GgmlLibraries, Pointer } from "./functions.ts";
import type { layout as Layout } from "./layout-0.5.0.ts";

/** Threads that live as long as the model. Between steps they spin for a while before they sleep. */
export interface Threadpool {
  readonly pointer: Pointer;
  /** Puts the threads to sleep at once. The next step wakes them. */
  rest(): void;
}

/**
 * Creates a thread pool. Pools belong to the CPU backend, a library that is chosen at run time, so its
 * functions are found by name.
 */
export function newThreadpool(
  { registry: ggml, base }: GgmlLibraries,
  layout: typeof Layout,
  params: object,
  processorFile: string | null,
): Threadpool | null {
  const registry = ggml.func("ggml_backend_reg_by_name", "void *", ["str"])("CPU") as Pointer | null;
  if (registry === null) return null;
  const getProcedure = base.func("ggml_backend_reg_get_proc_address", "void *", ["void *", "str"]);
  const create = getProcedure(registry, "ggml_threadpool_new") as Pointer | null;
  if (create === null) return null;
  const prototype = koffi.proto("void *", [koffi.pointer(layout.threadpoolParams)]);
  const pointer = koffi.call(create, prototype, params) as Pointer | null;
  if (pointer === null) return null;
  const pause = findPause(processorFile);
  return { pointer, rest: () => pause?.(pointer) };
}

/**
 * Finds the function that pauses a pool. The backend exports it but does not list it by name, so its file is
 * opened a second time. If the file is not known, threads spin for a quarter of a second longer.
 */
function findPause(processorFile: string | null): ((pool: Pointer) => void) | null {
  if (processorFile === null) return null;
  try {
    return koffi.load(processorFile).func("ggml_threadpool_pause", "void", ["void *"]) as (
      pool: Pointer,
    ) => void;
  } catch {
    return null;
  }
}
