import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface InstalledClients {
  /** Contains a package.json and node_modules. */
  readonly folder: string;
  load(name: keyof typeof packages): Promise<unknown>;
}

/** The newest versions when this was written. */
const packages = {
  ollama: "0.6.4",
  openai: "7.57.0",
  "@anthropic-ai/sdk": "1.12.0",
  "@langchain/ollama": "1.3.0",
  "@langchain/core": "1.4.0",
  ai: "7.0.173",
  "ollama-ai-provider-v2": "4.0.1",
};

/**
 * JavaScript clients, installed once into a cache outside the repository because they are not our
 * dependencies. Null if npm cannot reach them; the tests are then skipped by name.
 */
export async function installedClients(): Promise<InstalledClients | null> {
  const manifest = JSON.stringify({ private: true, dependencies: packages });
  const stamp = createHash("sha256").update(manifest).digest("hex").slice(0, 12);
  const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "locallm-test");
  const folder = join(cache, `clients-${stamp}`);
  if (!existsSync(folder)) {
    const building = `${folder}.${process.pid}`;
    try {
      await mkdir(building, { recursive: true });
      await writeFile(join(building, "package.json"), manifest);
      await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
        cwd: building,
        timeout: 240_000,
      });
      await rename(building, folder);
    } catch {
      await rm(building, { recursive: true, force: true });
      // Another test run may have installed the client first.
      if (!existsSync(folder)) return null;
    }
  }
  const { resolve } = createRequire(join(folder, "package.json"));
  return { folder, load: (name) => import(pathToFileURL(resolve(name)).href) as Promise<unknown> };
}
