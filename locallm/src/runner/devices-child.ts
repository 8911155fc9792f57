// Lists the GPUs that a build of the engine finds. Runs in a separate process, because a driver may crash and
// uses memory.

import { backendProblem, listDevices } from "../engine/libllama/devices.ts";
import { openLibrary } from "../engine/libllama/library.ts";
import type { Device } from "../wire/inference/load.ts";

export interface FoundDevices {
  readonly devices: readonly Device[];
  /** Why the build cannot be used. Null if it works, even if it finds no GPU. */
  readonly problem: string | null;
}

process.once("message", (folder: string) => {
  process.send?.(look(folder), () => process.exit(0));
});

function look(folder: string): FoundDevices {
  const problem = backendProblem(folder);
  if (problem !== null) return { devices: [], problem };
  try {
    return { devices: listDevices(openLibrary(folder)), problem: null };
  } catch (error) {
    return { devices: [], problem: error instanceof Error ? error.message : String(error) };
  }
}
