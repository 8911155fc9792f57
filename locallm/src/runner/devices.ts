import { askChild } from "./ask-child.ts";
import type { FoundDevices } from "./devices-child.ts";

export type { FoundDevices } from "./devices-child.ts";

/** A driver that takes longer than this is considered hung. */
const driverMs = 20_000;

/** Returns the GPUs that the libraries in `folder` find, with their current free memory. Never rejects. */
export async function findDevices(
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<FoundDevices> {
  try {
    return await askChild<FoundDevices>("devices-child", folder, { env, patienceMs: driverMs });
  } catch (error) {
    const problem = `the driver crashed the process that asked for devices (${(error as Error).message})`;
    return { devices: [], problem };
  }
}
