import { mediaTypes } from "../library/manifest.ts";
import type { Store } from "../library/store.ts";
import type { ModelName } from "../wire/model-name.ts";

/**
 * The download keys of a stored model's weights, which its layers carry as their names. They identify a model whose
 * source publishes no digest. Empty if the store has no such model.
 */
export async function weightsKeys(store: Store, name: ModelName): Promise<(string | undefined)[]> {
  const model = await store.find(name).catch(() => null);
  const layers = model?.manifest.layers.filter(({ mediaType }) => mediaType === mediaTypes.model) ?? [];
  return layers.map((layer) => layer.name);
}
