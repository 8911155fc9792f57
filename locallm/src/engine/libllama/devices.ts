import { join } from "node:path";
import koffi from "koffi";
import "../call-stack.ts";
import type { Device } from "../../wire/inference/load.ts";
import type { Pointer } from "./functions.ts";
import { type Library, platformBackend } from "./library.ts";

/** ggml's device types for GPUs. Other types are processors and their accelerators. */
const kinds: Readonly<Record<number, Device["kind"]>> = { 1: "gpu", 2: "integrated" };

/** The engine calls Apple's GPUs discrete, but they use the host's memory. */
const appleDevice = /^(MTL|Metal)\d*$/;

/** Lists the GPUs that the libraries find, in the engine's order. */
export function listDevices(library: Library): Device[] {
  return Array.from({ length: library.ggml_backend_dev_count() }, (_, index) =>
    library.ggml_backend_dev_get(index),
  ).flatMap((pointer) => {
    const told = kinds[library.ggml_backend_dev_type(pointer)];
    if (told === undefined) return [];
    const memory = library.deviceMemory(pointer);
    const name = library.ggml_backend_dev_name(pointer);
    const kind = appleDevice.test(name) ? "integrated" : told;
    return [{ name, description: library.ggml_backend_dev_description(pointer), kind, ...memory }];
  });
}

/** Returns the system's error if the GPU library in a folder cannot be loaded, or null if it loads. */
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

/**
 * Returns the addresses of the named devices, terminated by NULL as the engine expects. Returns null if one
 * was not found.
 */
export function deviceAddresses(library: Library, names: readonly string[]): BigUint64Array | null {
  const addresses = new BigUint64Array(names.length + 1);
  for (const [index, name] of names.entries()) {
    const pointer: Pointer | null = library.ggml_backend_dev_by_name(name);
    if (pointer === null) return null;
    addresses[index] = pointer;
  }
  return addresses;
}
