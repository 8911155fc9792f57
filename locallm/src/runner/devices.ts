import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FoundDevices } from "./devices-child.ts";
import { runnerEnvironment } from "./start.ts";

export type { FoundDevices } from "./devices-child.ts";

/** A driver that takes longer counts as hanging. */
const driverMs = 20_000;

/** The GPUs that the libraries in `folder` see now, with their free memory. Never rejects. */
export async function findDevices(
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<FoundDevices> {
  const isSource = import.meta.url.endsWith(".ts");
  const file = isSource ? "./devices-child.ts" : "./devices-child.js";
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: runnerEnvironment(env),
    execArgv: isSource ? process.execArgv : [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const none = (problem: string): FoundDevices => ({ devices: [], problem });
  const timer = setTimeout(() => child.kill("SIGKILL"), driverMs);
  try {
    return await new Promise((resolve) => {
      child.once("message", (found: FoundDevices) => resolve(found));
      child.once("error", (error) => resolve(none(error.message)));
      child.once("exit", (code, signal) =>
        resolve(
          none(`the driver crashed the process that asked for devices (${signal ?? `exit code ${code}`})`),
        ),
      );
      child.send(folder, () => {});
    });
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
}
