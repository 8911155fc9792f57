import { type FoundDevices, findDevices } from "../runner/devices.ts";
import type { Device } from "../wire/inference/load.ts";
import { usable } from "./accelerator.ts";
import { type BackendChoice, chooseBackend } from "./backend.ts";
import { hasCudaRuntime } from "./cuda-runtime.ts";
import { findHardware, type Hardware, thisMachine } from "./hardware.ts";
import { installedBackends } from "./installed.ts";
import { type EnginePackage, enginePackages } from "./packages.ts";

/** The user's GPU settings. */
export interface GpuSettings {
  /** Folder of the GPU builds that `locallm doctor --install` downloads. */
  readonly enginesFolder: string;
  readonly intelGpu: boolean;
  /** `CUDA_VISIBLE_DEVICES`. Empty hides all GPUs. Null means not set. */
  readonly cudaVisibleDevices: string | null;
  /** `GGML_VK_VISIBLE_DEVICES`, which does the same for Vulkan. */
  readonly vulkanVisibleDevices: string | null;
}

/** The engine build that runs models on this machine. Reads a few small files and starts no process. */
export function machineBackend(settings: GpuSettings): BackendChoice {
  const { platform, arch } = thisMachine;
  return chooseBackend({
    ...settings,
    platform,
    arch,
    hardware: findHardware(thisMachine),
    hasCudaRuntime: hasCudaRuntime(thisMachine),
    installed: installedBackends(settings.enginesFolder),
  });
}

/** Everything that decides where models run, including the devices that the engine reports. */
export interface GpuReport {
  readonly hardware: readonly Hardware[];
  readonly choice: BackendChoice;
  readonly builds: readonly EnginePackage[];
  /** A build that would suit this machine better but is not installed. Null if there is none. */
  readonly toFetch: EnginePackage | null;
  readonly devices: readonly (Device & { readonly isUsed: boolean })[];
  /** Why the chosen backend cannot be used; `devices` then lists those of the next best installed backend. */
  readonly problem: string | null;
}

export async function inspectGpus(settings: GpuSettings): Promise<GpuReport> {
  const choice = machineBackend(settings);
  const builds = enginePackages(thisMachine.platform, thisMachine.arch);
  const { devices, problem } = await firstDevices(choice, settings);
  const used = new Set(usable(devices, settings.intelGpu));
  return {
    hardware: findHardware(thisMachine),
    choice,
    builds,
    toFetch:
      choice.wanted === choice.backend
        ? null
        : (builds.find(({ backend }) => backend === choice.wanted) ?? null),
    devices: devices.map((device) => ({ ...device, isUsed: used.has(device) })),
    problem,
  };
}

async function firstDevices(choice: BackendChoice, settings: GpuSettings): Promise<FoundDevices> {
  if (choice.folder === null) return { devices: [], problem: null };
  const first = await devicesIn(choice.folder, settings);
  if (first.problem === null) return first;
  for (const folder of choice.furtherFolders) {
    const { devices, problem } = await devicesIn(folder, settings);
    if (problem === null) return { devices, problem: first.problem };
  }
  return first;
}

/** The devices that the engine build in this folder reports. */
export async function devicesIn(folder: string, settings: GpuSettings): Promise<FoundDevices> {
  return await findDevices(folder, visibleDevices(settings));
}

/** Environment variables that limit the engine to the GPUs the user chose. */
export function visibleDevices(settings: GpuSettings): Record<string, string> {
  const { cudaVisibleDevices, vulkanVisibleDevices, intelGpu } = settings;
  return {
    ...(cudaVisibleDevices === null ? {} : { CUDA_VISIBLE_DEVICES: cudaVisibleDevices }),
    ...(vulkanVisibleDevices === null ? {} : { GGML_VK_VISIBLE_DEVICES: vulkanVisibleDevices }),
    ...(intelGpu ? { LOCALLM_INTEL_GPU: "1" } : {}),
  };
}
