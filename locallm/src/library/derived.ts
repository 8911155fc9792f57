import { rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { LocallmError } from "../wire/errors.ts";
import type { Quantizer } from "../wire/inference/quantize.ts";
import { purposeOf } from "./abilities.ts";
import { readFolder } from "./blob.ts";
import { makeFolder } from "./durable.ts";
import type { GgufHeader } from "./gguf/header.ts";
import { writableType } from "./gguf/quantisation.ts";
import type { Model } from "./model.ts";
import { detailsFromHeader } from "./model-details.ts";
import { writeQuantized } from "./quantize.ts";
import type { Store } from "./store.ts";

/** Where files are that were made of others, so that this machine computes faster with them. */
export function derivedFolder(store: Store): string {
  return join(store.root, "derived");
}

export interface DerivedSettings {
  readonly store: Store;
  readonly quantizer: Quantizer;
  readonly availableBytes: () => number;
  /** Whether this machine multiplies BF16 faster than F16. */
  readonly isFaster: boolean;
  /** Waits until the first requests are answered. Rejects when the signal aborts. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
  readonly onMade: (name: string) => void;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Weights of embedding models in BF16 instead of F16, for processors that multiply it faster. They are made once in the
 * background, beside the store, and named by the digest of the file they were made of. The model's own digest stays its
 * identity.
 */
export class DerivedWeights {
  readonly #settings: DerivedSettings;
  readonly #begun = new Set<string>();
  readonly #closed = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(settings: DerivedSettings) {
    this.#settings = settings;
  }

  /** The file to load instead of the model's own. Null if there is none yet: then it is begun. */
  async pathFor(model: Model, header: GgufHeader): Promise<string | null> {
    const [from, ...further] = model.modelPaths;
    if (!this.#settings.isFaster || from === undefined || further.length > 0) return null;
    if (purposeOf(header) !== "embedding" || model.adapterPaths.length > 0) return null;
    if (detailsFromHeader(header).file_type !== "F16") return null;
    const path = join(derivedFolder(this.#settings.store), `${basename(from)}-bf16.gguf`);
    if ((await stat(path).catch(() => null)) !== null) return path;
    if (!this.#begun.has(path)) {
      this.#begun.add(path);
      this.#last = this.#last.then(() => this.#make(from, path));
    }
    return null;
  }

  /** Resolves when nothing more is being made. */
  async idle(): Promise<void> {
    await this.#last;
  }

  async close(): Promise<void> {
    this.#closed.abort(new LocallmError("shutting_down", {}));
    await this.#last;
  }

  async #make(from: string, to: string): Promise<void> {
    const { store, pause, onMade, onProblem } = this.#settings;
    const { signal } = this.#closed;
    try {
      await pause(signal);
      await makeFolder(derivedFolder(store));
      const type = writableType("bf16")!;
      const context = { ...this.#settings, signal, onProgress: () => {} };
      // The name appears when the whole file is on the disk.
      await writeQuantized(from, { type, allowRequantize: false }, context, (path) => rename(path, to));
      onMade(basename(to));
    } catch (error) {
      // The model answers from its own file. The next server tries again.
      if (!signal.aborted) onProblem(error);
    }
  }
}

/** Removes derived files: all of them, or those whose source is gone. A server makes the others again. */
export async function removeDerived(
  store: Store,
  { dryRun, onlyOrphans }: { readonly dryRun: boolean; readonly onlyOrphans: boolean },
): Promise<{ files: number; sizeBytes: number }> {
  let files = 0;
  let sizeBytes = 0;
  for (const name of await readFolder(derivedFolder(store))) {
    const path = join(derivedFolder(store), name);
    const source = /^(sha256-[0-9a-f]{64})-bf16\.gguf$/.exec(name)?.[1];
    if (source === undefined) continue;
    if (onlyOrphans && (await stat(join(store.blobs.folder, source)).catch(() => null)) !== null) continue;
    files++;
    sizeBytes += (await stat(path).catch(() => null))?.size ?? 0;
    // On Windows a file that a model is loaded from stays.
    if (!dryRun) await rm(path, { force: true }).catch(() => {});
  }
  return { files, sizeBytes };
}
