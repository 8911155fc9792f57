import { stat } from "node:fs/promises";
import type { Digest } from "./digest.ts";
import { manifestLayers } from "./manifest.ts";
import type { Model } from "./model.ts";
import type { Store } from "./store.ts";

/** Disk space of a model: its own, and shared with other models. */
export interface ModelUsage {
  model: Model;
  ownBytes: number;
  sharedBytes: number;
}

export interface StoreUsage {
  models: ModelUsage[];
  /** All blobs, each counted once. */
  blobBytes: number;
  /** Blobs that no manifest uses. */
  unused: { digest: Digest; sizeBytes: number; ageMs: number }[];
}

export async function storeUsage(store: Store, now: Date): Promise<StoreUsage> {
  const { models } = await store.list();
  const users = new Map<Digest, number>();
  for (const model of models) {
    for (const { digest } of manifestLayers(model.manifest)) users.set(digest, (users.get(digest) ?? 0) + 1);
  }
  const used = await store.usedDigests();
  const unused: StoreUsage["unused"] = [];
  let blobBytes = 0;
  for (const digest of await store.blobs.list()) {
    const found = await stat(store.blobs.path(digest)).catch(() => null);
    if (found === null) continue;
    blobBytes += found.size;
    if (!used.has(digest)) {
      unused.push({
        digest,
        sizeBytes: found.size,
        ageMs: now.getTime() - Math.max(found.mtimeMs, found.ctimeMs),
      });
    }
  }
  const usage = models.map((model) => {
    const layers = manifestLayers(model.manifest);
    const sum = (isShared: boolean) =>
      layers.reduce(
        (bytes, { digest, sizeBytes }) => bytes + ((users.get(digest) ?? 0) > 1 === isShared ? sizeBytes : 0),
        0,
      );
    return { model, ownBytes: sum(false), sharedBytes: sum(true) };
  });
  return { models: usage, blobBytes, unused };
}

/** Younger blobs are not pruned, because their create request or their manifest may still follow. */
export const unusedPatienceMs = 60 * 60_000;

/** Removes blobs that no manifest has used for a while; with `dryRun` only counts them. */
export async function pruneBlobs(
  store: Store,
  options: { dryRun: boolean; now: Date; patienceMs?: number },
): Promise<{ blobs: number; sizeBytes: number }> {
  const { unused } = await storeUsage(store, options.now);
  const old = unused.filter(({ ageMs }) => ageMs >= (options.patienceMs ?? unusedPatienceMs));
  if (!options.dryRun) {
    // A server may have started using one of them meanwhile.
    const used = await store.usedDigests();
    for (const { digest } of old) if (!used.has(digest)) await store.blobs.remove(digest);
  }
  return { blobs: old.length, sizeBytes: old.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) };
}
