import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface RunningService {
  readonly url: string;
  readonly key: string;
  close(): Promise<void>;
}

/** The real service as a process, on a free port and a fresh data folder. */
export async function startService(): Promise<RunningService> {
  const data = mkdtempSync(join(tmpdir(), "dataq-"));
  const main = fileURLToPath(new URL("../../service/src/cli/main.ts", import.meta.url));
  const child = spawn(process.execPath, ["-C", "source", main, "serve", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, DATAQ_HOST: "127.0.0.1:0", DATAQ_DATA: data },
  });
  const ended = once(child, "exit");
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    ended.then(() => Promise.reject(new Error("The service did not start."))),
  ])) as [string];
  return {
    ...(JSON.parse(line) as { url: string; key: string }),
    close: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(data, { recursive: true, force: true });
    },
  };
}
