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
  "@anthropic-ai/sdk": "1.14.0",
  "@langchain/ollama": "1.3.0",
  "@langchain/core": "1.4.0",
  ai: "7.0.173",
  "ollama-ai-provider-v2": "4.0.1",
  "@ai-sdk/openai-compatible": "3.0.92",
  zod: "4.6.7",
};

/** JavaScript clients. Null if npm cannot reach them; the tests are then skipped by name. */
export async function installedClients(): Promise<InstalledClients | null> {
  const folder = await installed("clients", packages);
  if (folder === null) return null;
  const { resolve } = createRequire(join(folder, "package.json"));
  return { folder, load: (name) => import(pathToFileURL(resolve(name)).href) as Promise<unknown> };
}

/**
 * Returns a folder with these npm packages, installed once into a cache outside the repository because they are not
 * our dependencies. Null if npm cannot reach them. `built` are those whose install script must run.
 */
export async function installed(
  name: string,
  dependencies: Readonly<Record<string, string>>,
  built: readonly string[] = [],
): Promise<string | null> {
  const manifest = JSON.stringify({ private: true, dependencies });
  const stamp = createHash("sha256")
    .update(manifest + built.join())
    .digest("hex")
    .slice(0, 12);
  const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "locallm-test");
  const folder = join(cache, `${name}-${stamp}`);
  if (existsSync(folder)) return folder;
  const building = `${folder}.${process.pid}`;
  const npm = (...words: string[]) => run("npm", words, { cwd: building, timeout: 240_000 });
  try {
    await mkdir(building, { recursive: true });
    await writeFile(join(building, "package.json"), manifest);
    await npm("install", "--ignore-scripts", "--no-audit", "--no-fund");
    if (built.length > 0) await npm("rebuild", ...built);
    await rename(building, folder);
  } catch {
    await rm(building, { recursive: true, force: true });
    // Another test run may have installed them first.
    if (!existsSync(folder)) return null;
  }
  return folder;
}
