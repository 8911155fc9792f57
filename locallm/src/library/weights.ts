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

/**
 * Creates a model from GGUF blobs in the store: one file, or all files of a split model in order. Its configuration and
 * chat template come from the GGUF metadata. On an error such as `invalid_gguf` it removes blobs that no other model
 * uses.
 */
export async function writeWeightsModel(
  store: Store,
  name: ModelName,
  blobs: readonly WeightsBlob[],
): Promise<void> {
  try {
    const header = await store.headers.ofWhole(blobs.map(({ digest }) => store.blobs.path(digest)));
    const layers: Layer[] = blobs.map((blob) => ({ mediaType: mediaTypes.model, ...blob }));
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
