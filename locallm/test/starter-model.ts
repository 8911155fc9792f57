import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Store } from "../src/library/store.ts";
import { Pulls } from "../src/sources/pulls.ts";
import { ensureStarterModel } from "../src/sources/starter.ts";
import { parseModelName } from "../src/wire/model-name.ts";

/** The name of the model in the store that `starterStore` returns. */
export const starterName = "smollm2:135m";

let ready: Promise<string | null> | null = null;

/**
 * A models folder with the starter model, outside the repository, downloaded once for all runs. Tests must
 * not change it; they copy or link the files that they change. Null if no source can be reached; tests that
 * need the model are then skipped by name.
 */
export function starterStore(): Promise<string | null> {
  ready ??= fetchOnce();
  return ready;
}

/** The model's GGUF file, or null. */
export async function starterModelPath(): Promise<string | null> {
  const root = await starterStore();
  const name = parseModelName(starterName);
  if (root === null || name === null) return null;
  return (await new Store(root).require(name)).modelPaths[0] ?? null;
}

async function fetchOnce(): Promise<string | null> {
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const root = join(cache, "locallm-test", "starter");
  await mkdir(root, { recursive: true });
  const pulls = new Pulls(new Store(root), { network: {}, registries: null, credentials: null });
  const result = await ensureStarterModel(pulls, {
    onProgress: () => {},
    signal: AbortSignal.timeout(300_000),
  });
  pulls.close();
  return "missing" in result ? null : root;
}
