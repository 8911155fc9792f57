import { mediaTypes } from "../library/manifest.ts";
import type { Store } from "../library/store.ts";
import type { ModelName } from "../wire/model-name.ts";

/**
 * What the weights of a model of the store came from: the key of each one's download, which its layer carries as its
 * name. So a source that tells no digest of its content is known again. Empty where there is no such model.
 */
export async function weightsKeys(store: Store, name: ModelName): Promise<(string | undefined)[]> {
  const model = await store.find(name).catch(() => null);
  const layers = model?.manifest.layers.filter(({ mediaType }) => mediaType === mediaTypes.model) ?? [];
  return layers.map((layer) => layer.name);
}
