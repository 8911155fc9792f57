import { type FoundDevices, findDevices } from "../runner/devices.ts";
import type { Device } from "../wire/inference/load.ts";
import { usable } from "./accelerator.ts";
import { type BackendChoice, chooseBackend } from "./backend.ts";
import { findHardware, type Hardware, thisMachine } from "./hardware.ts";
import { installedBackends } from "./installed.ts";
import { type EnginePackage, enginePackages } from "./packages.ts";

/** What the user set. */
export interface GpuSettings {
  /** Builds of the engine for GPUs, which `locallm doctor --install` fetches. */
  readonly enginesFolder: string;
  readonly intelGpu: boolean;
  /** Empty: none of them. Null: not set. */
  readonly cudaVisibleDevices: string | null;
  /** The same for GPUs by Vulkan. */
  readonly vulkanVisibleDevices: string | null;
}

/** Which build of the engine runs models on this machine. Reads a few small files, starts nothing. */
export function machineBackend(settings: GpuSettings): BackendChoice {
  const { platform, arch } = thisMachine;
  return chooseBackend({
    ...settings,
    platform,
    arch,
    hardware: findHardware(thisMachine),
    installed: installedBackends(settings.enginesFolder),
  });
}

/** For people: everything that decides where models run, the native layer's word included. */
export interface GpuReport {
  readonly hardware: readonly Hardware[];
  readonly choice: BackendChoice;
  readonly builds: readonly EnginePackage[];
  /** What would serve this machine better and is not installed; null: nothing. */
  readonly toFetch: EnginePackage | null;
  readonly devices: readonly (Device & { readonly isUsed: boolean })[];
  /** Why the chosen backend cannot be used; `devices` are then those of the next best that is installed. */
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

/** What the build in this folder of libraries sees. */
export async function devicesIn(folder: string, settings: GpuSettings): Promise<FoundDevices> {
  return await findDevices(folder, visibleDevices(settings));
}

/** What makes every process that opens the engine see the GPUs that the user chose. */
export function visibleDevices(settings: GpuSettings): Record<string, string> {
  const { cudaVisibleDevices, vulkanVisibleDevices, intelGpu } = settings;
  return {
    ...(cudaVisibleDevices === null ? {} : { CUDA_VISIBLE_DEVICES: cudaVisibleDevices }),
    ...(vulkanVisibleDevices === null ? {} : { GGML_VK_VISIBLE_DEVICES: vulkanVisibleDevices }),
    ...(intelGpu ? { LOCALLM_INTEL_GPU: "1" } : {}),
  };
}
