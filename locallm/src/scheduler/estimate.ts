import type { Store } from "../library/store.ts";
import type { RunnableModel } from "./lease.ts";
import type { EstimateLoad } from "./scheduler.ts";

/** Memory that a model will take when loaded, in bytes, from its header alone. */
export async function estimateBytes(store: Store, model: RunnableModel, load: EstimateLoad): Promise<number> {
  const header = await store.headers.of(model.modelPath);
  void load;
  return header.tensors.length;
}

/** Memory that may still be taken, within what a container allows. */
export function availableBytes(): number {
  return process.availableMemory();
}
