import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readFolder } from "./blob.ts";
import type { Store } from "./store.ts";

/**
 * What Ollama keeps of downloads that it has not finished: `blobs/sha256-<hex>-partial` and a record for each part,
 * `…-partial-<n>`. They are its own to go on with; we neither read nor write them, because Ollama's start throws
 * away those older than an hour and ours must last (`partial/`). One that rested for so long counts as left behind.
 */
export async function cleanOllamaPartials(
  store: Store,
  { dryRun, now }: { dryRun: boolean; now: Date },
): Promise<{ downloads: number; sizeBytes: number }> {
  const byBlob = new Map<string, { path: string; sizeBytes: number; restedMs: number }[]>();
  for (const name of await readFolder(store.blobs.folder)) {
    const blob = ollamaPartialOf(name);
    if (blob === null) continue;
    const path = join(store.blobs.folder, name);
    const found = await stat(path).catch(() => null);
    if (found === null) continue;
    // Blocks, not length: the file has its full length from the start.
    const file = { path, sizeBytes: found.blocks * 512, restedMs: now.getTime() - found.mtimeMs };
    byBlob.set(blob, [...(byBlob.get(blob) ?? []), file]);
  }
  const cleaned = { downloads: 0, sizeBytes: 0 };
  for (const files of byBlob.values()) {
    if (files.some(({ restedMs }) => restedMs < patienceMs)) continue;
    cleaned.downloads += 1;
    for (const { path, sizeBytes } of files) {
      cleaned.sizeBytes += sizeBytes;
      if (!dryRun) await rm(path, { force: true });
    }
  }
  return cleaned;
}

/** The blob that a file in `blobs/` is an unfinished download of; null where it is none. */
export function ollamaPartialOf(fileName: string): string | null {
  return /^(sha256-[0-9a-f]{64})-partial(?:-\d+)?$/.exec(fileName)?.[1] ?? null;
}

const patienceMs = 60 * 60_000;
