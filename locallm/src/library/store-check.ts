import { rename } from "node:fs/promises";
import { join } from "node:path";
import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName } from "../wire/model-name.ts";
import { readFolder } from "./blob.ts";
import { type Digest, parseDigest } from "./digest.ts";
import { makeFolder } from "./durable.ts";
import { manifestLayers } from "./manifest.ts";
import { headerOf } from "./model-details.ts";
import { ollamaPartialOf } from "./ollama-partials.ts";
import type { Store } from "./store.ts";

export interface StoreProblem {
  what: string;
  /** What was done about it, or what the user can do. */
  remedy: string;
  isRepaired: boolean;
}

export interface StoreReport {
  models: number;
  blobs: number;
  problems: StoreProblem[];
}

export interface CheckOptions {
  /** Read every blob and compare it with its digest; otherwise check only sizes. */
  readBlobs: boolean;
  /** Move damaged blobs and manifests to the folder `damaged`. */
  repair: boolean;
  onProgress?(text: string): void;
  signal?: AbortSignal;
}

/**
 * Checks that manifests are readable, that their blobs exist, have the right size and match their digests, and that
 * weights are valid GGUF files. A repair moves damaged files away and deletes nothing.
 */
export async function checkStore(store: Store, options: CheckOptions): Promise<StoreReport> {
  const problems: StoreProblem[] = [];
  const damaged = await damagedBlobs(store, options, problems);
  const { models, broken } = await store.list();
  for (const { name, error } of broken) {
    const shown = displayModelName(name);
    const isManifest = error.code === "invalid_manifest";
    if (isManifest && options.repair) {
      await setAside(store, await store.manifestPath(name), shown);
      problems.push({
        what: `${shown}: ${error.message}`,
        remedy: "moved to the folder `damaged`; pull the model again",
        isRepaired: true,
      });
    } else {
      problems.push({
        what: `${shown}: ${error.message}`,
        remedy: advice(shown, isManifest),
        isRepaired: false,
      });
    }
  }
  for (const model of models) {
    const shown = displayModelName(model.name);
    for (const layer of manifestLayers(model.manifest)) {
      const size = await store.blobs.size(layer.digest);
      if (size === layer.sizeBytes && !damaged.has(layer.digest)) continue;
      const what =
        size === null || damaged.has(layer.digest)
          ? "is missing or damaged"
          : `has ${counted(size, "byte")} instead of ${layer.sizeBytes}`;
      problems.push({
        what: `${shown}: blob ${layer.digest.slice(0, 19)} ${what}`,
        remedy: `locallm pull ${shown}, or create it again`,
        isRepaired: false,
      });
    }
    const rule = await headerOf(store, model).then(
      () => null,
      (error: unknown) =>
        // Missing blobs are reported above.
        error instanceof LocallmError && error.code !== "blob_missing" ? error.message : null,
    );
    if (rule !== null)
      problems.push({ what: `${shown}: ${rule}`, remedy: `locallm rm ${shown}`, isRepaired: false });
  }
  return { models: models.length, blobs: (await store.blobs.list()).length, problems };
}

function advice(shown: string, isManifest: boolean): string {
  return isManifest
    ? "locallm doctor --repair moves it to the folder `damaged`"
    : `locallm pull ${shown}, or locallm rm ${shown}`;
}

async function damagedBlobs(
  store: Store,
  options: CheckOptions,
  problems: StoreProblem[],
): Promise<Set<Digest>> {
  const damaged = new Set<Digest>();
  for (const entry of await readFolder(store.blobs.folder)) {
    options.signal?.throwIfAborted();
    const digest = parseDigest(entry);
    if (ollamaPartialOf(entry) !== null) continue;
    if (digest === null) {
      problems.push({
        what: `blobs/${entry} is not a blob`,
        remedy: "delete the file unless you put it there",
        isRepaired: false,
      });
      continue;
    }
    if (!options.readBlobs) continue;
    options.onProgress?.(`reading ${digest.slice(7, 19)}`);
    if (await store.blobs.verify(digest, options.signal)) continue;
    damaged.add(digest);
    const what = `blob ${digest.slice(0, 19)} does not match its digest`;
    if (options.repair) {
      await setAside(store, store.blobs.path(digest), entry);
      problems.push({ what, remedy: "moved to the folder `damaged`", isRepaired: true });
    } else {
      problems.push({
        what,
        remedy: "locallm doctor --repair moves it to the folder `damaged`",
        isRepaired: false,
      });
    }
  }
  return damaged;
}

async function setAside(store: Store, path: string, name: string): Promise<void> {
  const folder = join(store.root, "damaged");
  await makeFolder(folder);
  await rename(path, join(folder, `${Date.now()}-${name.replaceAll(/[/:]/g, "-")}`));
}
