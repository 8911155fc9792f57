import { goJson } from "../wire/go-json.ts";
import type { ModelName } from "../wire/model-name.ts";
import { configBytes } from "./config-blob.ts";
import { configFields } from "./create.ts";
import type { Digest } from "./digest.ts";
import { type Layer, mediaTypes } from "./manifest.ts";
import type { Store } from "./store.ts";

export interface WeightsBlob {
  digest: Digest;
  sizeBytes: number;
  /** Name of its source, stored in the layer. */
  name?: string;
}

/** What SYSTEM and PARAMETER lines of a Modelfile say. */
export interface ModelSettings {
  system: string;
  params: Readonly<Record<string, number>>;
}

/**
 * Creates a model from GGUF blobs in the store: one file, or all files of a split model in order. Its configuration and
 * chat template come from the GGUF metadata, its system message and parameters from `settings`. On an error such as `invalid_gguf` it removes blobs that no other model
 * uses.
 */
export async function writeWeightsModel(
  store: Store,
  name: ModelName,
  blobs: readonly WeightsBlob[],
  settings: ModelSettings | null = null,
): Promise<void> {
  try {
    const header = await store.headers.ofWhole(blobs.map(({ digest }) => store.blobs.path(digest)));
    const layers: Layer[] = blobs.map((blob) => ({ mediaType: mediaTypes.model, ...blob }));
    if (settings !== null) {
      const { system, params } = settings;
      layers.push({ mediaType: mediaTypes.system, ...(await store.blobs.writeBytes(system)) });
      layers.push({ mediaType: mediaTypes.params, ...(await store.blobs.writeBytes(goJson(params))) });
    }
    const config = await store.blobs.writeBytes(configBytes(configFields(header), layers));
    await store.write(name, {
      config: { mediaType: mediaTypes.config, digest: config.digest, sizeBytes: config.sizeBytes },
      layers,
    });
  } catch (error) {
    const used = await store.usedDigests();
    for (const { digest } of blobs) if (!used.has(digest)) await store.blobs.remove(digest);
    throw error;
  }
}
