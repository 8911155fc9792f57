import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/**
 * Physical cores that this process may use: a second thread on a core only makes the first one wait. Where
 * the system does not tell, all processors.
 */
export function physicalCores(folder = "/sys/devices/system/cpu"): number {
  const cores = new Set<string>();
  try {
    for (const name of readdirSync(folder)) {
      if (!/^cpu\d+$/.test(name)) continue;
      cores.add(readFileSync(`${folder}/${name}/topology/core_cpus_list`, "utf8").trim());
    }
  } catch {
    return availableParallelism();
  }
  return Math.max(1, Math.min(cores.size || availableParallelism(), availableParallelism()));
}
