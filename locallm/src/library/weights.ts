import type { ModelName } from "../wire/model-name.ts";
import { configBytes } from "./config-blob.ts";
import { configFields } from "./create.ts";
import type { Digest } from "./digest.ts";
import { type Layer, mediaTypes } from "./manifest.ts";
import type { Store } from "./store.ts";

/**
 * Makes a model of one GGUF blob, described by its own metadata; its own chat template holds. Throws
 * `invalid_gguf`, and then removes the blob unless another model uses it.
 */
export async function writeWeightsModel(
  store: Store,
  name: ModelName,
  blob: { digest: Digest; sizeBytes: number },
): Promise<void> {
  const header = await store.headers.of(store.blobs.path(blob.digest)).catch(async (error: unknown) => {
    if (!(await store.usedDigests()).has(blob.digest)) await store.blobs.remove(blob.digest);
    throw error;
  });
  const layers: Layer[] = [{ mediaType: mediaTypes.model, ...blob }];
  const config = await store.blobs.writeBytes(configBytes(configFields(header), layers));
  await store.write(name, {
    config: { mediaType: mediaTypes.config, digest: config.digest, sizeBytes: config.sizeBytes },
    layers,
  });
}
