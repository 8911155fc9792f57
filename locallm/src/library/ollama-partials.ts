import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readFolder } from "./blob.ts";
import type { Store } from "./store.ts";

/**
 * Deletes Ollama's abandoned downloads: `blobs/sha256-<hex>-partial` and a record for each part, `…-partial-<n>`.
 * A download untouched for an hour counts as abandoned; Ollama deletes such files at its start, too. locallm keeps its
 * own unfinished downloads in `partial/`, because they must survive that.
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
    // Count blocks, because the file has its full length from the start.
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

/** The blob name if the file in `blobs/` is an unfinished Ollama download, else null. */
export function ollamaPartialOf(fileName: string): string | null {
  return /^(sha256-[0-9a-f]{64})-partial(?:-\d+)?$/.exec(fileName)?.[1] ?? null;
}

const patienceMs = 60 * 60_000;
