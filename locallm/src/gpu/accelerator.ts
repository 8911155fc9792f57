import type { FoundDevices } from "../runner/devices.ts";
import type { Device } from "../wire/inference/load.ts";
import type { BackendChoice } from "./backend.ts";
import { type Choice, type Needs, onProcessor, type PlacementWish, place } from "./placement.ts";

/** Lists the devices that the engine build in this folder can use. */
export type FindDevices = (folder: string) => Promise<FoundDevices>;

export interface AcceleratorSettings {
  readonly intelGpu: boolean;
  /** What of each device's memory stays free. */
  readonly marginBytes: number;
  /** What requests and models leave open: of how many first layers the experts stay on the CPU. */
  readonly cpuExperts: number | null;
  /** The same for the shares of the GPUs. */
  readonly tensorSplit: readonly number[] | null;
}

/**
 * Decides on which devices each model runs. With a GPU backend, it queries the devices before every load,
 * because their free memory changes. Without one, it starts no process.
 */
export class Accelerator {
  readonly #choice: BackendChoice;
  readonly #find: FindDevices;
  readonly #settings: AcceleratorSettings;

  constructor(choice: BackendChoice, find: FindDevices, settings: AcceleratorSettings) {
    this.#choice = choice;
    this.#find = find;
    this.#settings = settings;
  }

  async place(needs: Needs, wish: PlacementWish): Promise<Choice> {
    const { folder, furtherFolders, why } = this.#choice;
    const { intelGpu, cpuExperts, tensorSplit, marginBytes } = this.#settings;
    if (folder === null) return onProcessor(needs, why);
    if (wish.numGpu === 0) return onProcessor(needs, "num_gpu is 0");
    const problems: string[] = [];
    for (const libraries of [folder, ...furtherFolders]) {
      const { devices, problem } = await this.#find(libraries);
      if (problem === null)
        return await place(libraries, usable(devices, intelGpu), needs, {
          ...wish,
          cpuExperts: wish.cpuExperts ?? cpuExperts,
          shares: wish.shares ?? tensorSplit,
          marginBytes,
        });
      problems.push(problem);
    }
    return onProcessor(needs, `the GPU driver cannot be used: ${problems.join("; ")}`);
  }
}

/** Excludes Intel GPUs unless LOCALLM_INTEL_GPU is set. */
export function usable(devices: readonly Device[], intelGpu: boolean): Device[] {
  return devices.filter(({ description }) => intelGpu || !/\bintel\b/i.test(description));
}
