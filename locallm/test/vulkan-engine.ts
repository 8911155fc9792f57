import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { installEngine } from "../src/gpu/install.ts";
import { installedBackends } from "../src/gpu/installed.ts";
import { enginePackages } from "../src/gpu/packages.ts";
import { findDevices } from "../src/runner/devices.ts";

/** The variable that makes the engine use a software driver as a GPU. */
export const softwareGpu = { GGML_VK_VISIBLE_DEVICES: "0" };

/** The same driver twice: two devices for the engine. */
export const softwareGpus = { GGML_VK_VISIBLE_DEVICES: "0,0" };

/**
 * The folder of a Vulkan build, outside the repository and downloaded once. Null if it cannot be downloaded,
 * or if no Vulkan driver shows a device. Debian's software driver is in libvulkan1 and mesa-vulkan-drivers.
 */
export async function vulkanEngines(): Promise<string | null> {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "locallm-test", "engines");
  const build = enginePackages(process.platform, process.arch).find(({ backend }) => backend === "vulkan");
  if (build === undefined) return null;
  await mkdir(folder, { recursive: true });
  const libraries =
    installedBackends(folder).vulkan ?? (await installEngine(folder, build, () => {}).catch(() => null));
  if (libraries === null) return null;
  const { devices } = await findDevices(libraries, softwareGpu);
  return devices.length === 0 ? null : folder;
}
