import { join } from "node:path";
import koffi from "koffi";
import type { Device } from "../../wire/inference/load.ts";
import type { Pointer } from "./functions.ts";
import { type Library, platformBackend } from "./library.ts";

/** ggml's numbers for the kinds of GPU; processors and their accelerators have others. */
const kinds: Readonly<Record<number, Device["kind"]>> = { 1: "gpu", 2: "integrated" };

/** The GPUs that the libraries see, in the engine's order. */
export function listDevices(library: Library): Device[] {
  return Array.from({ length: library.ggml_backend_dev_count() }, (_, index) =>
    library.ggml_backend_dev_get(index),
  ).flatMap((pointer) => {
    const kind = kinds[library.ggml_backend_dev_type(pointer)];
    if (kind === undefined) return [];
    const memory = library.deviceMemory(pointer);
    const name = library.ggml_backend_dev_name(pointer);
    return [{ name, description: library.ggml_backend_dev_description(pointer), kind, ...memory }];
  });
}

/** Why a folder's GPU library cannot be loaded, in the system's words; null if it loads. */
export function backendProblem(folder: string): string | null {
  const file = platformBackend(folder);
  if (file === null) return null;
  try {
    koffi.load(join(folder, file));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Addresses of devices by name, ended by a NULL as the engine expects. Null if one was not found. */
export function deviceAddresses(library: Library, names: readonly string[]): BigUint64Array | null {
  const addresses = new BigUint64Array(names.length + 1);
  for (const [index, name] of names.entries()) {
    const pointer: Pointer | null = library.ggml_backend_dev_by_name(name);
    if (pointer === null) return null;
    addresses[index] = pointer;
  }
  return addresses;
}
