import type { FoundDevices } from "../runner/devices.ts";
import type { Device } from "../wire/inference/load.ts";
import type { BackendChoice } from "./backend.ts";
import { type Choice, type Needs, onProcessor, type PlacementWish, place } from "./placement.ts";

/** Lists the devices that the engine build in this folder can use. */
export type FindDevices = (folder: string) => Promise<FoundDevices>;

/**
 * Decides on which devices each model runs. With a GPU backend, it queries the devices before every load,
 * because their free memory changes. Without one, it starts no process.
 */
export class Accelerator {
  readonly #choice: BackendChoice;
  readonly #find: FindDevices;
  readonly #intelGpu: boolean;

  constructor(choice: BackendChoice, find: FindDevices, { intelGpu }: { intelGpu: boolean }) {
    this.#choice = choice;
    this.#find = find;
    this.#intelGpu = intelGpu;
  }

  async place(needs: Needs, wish: PlacementWish): Promise<Choice> {
    const { folder, furtherFolders, why } = this.#choice;
    if (folder === null) return onProcessor(needs, why);
    if (wish.numGpu === 0) return onProcessor(needs, "num_gpu is 0");
    const problems: string[] = [];
    for (const libraries of [folder, ...furtherFolders]) {
      const { devices, problem } = await this.#find(libraries);
      if (problem === null) return place(libraries, usable(devices, this.#intelGpu), needs, wish);
      problems.push(problem);
    }
    return onProcessor(needs, `the GPU driver cannot be used: ${problems.join("; ")}`);
  }
}

/** Excludes Intel GPUs unless LOCALLM_INTEL_GPU is set. */
export function usable(devices: readonly Device[], intelGpu: boolean): Device[] {
  return devices.filter(({ description }) => intelGpu || !/\bintel\b/i.test(description));
}
