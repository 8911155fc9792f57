import { hermesTemplate } from "../hermes-template.ts";
import { createSmallStore, embeddingModelPath, type ModelStore } from "../model-store.ts";

/** What the clients talk to: a quick model of random weights that may call tools, and an embedding model. */
export const chatModel = "tools:1";
export const embeddingModel = embeddingModelPath === null ? null : "all-minilm:22m";

export async function clientStore(): Promise<ModelStore> {
  const store = await createSmallStore();
  const parameters = { num_thread: 1, temperature: 0, num_predict: 100 };
  await store.derive(chatModel, { from: "small:a", template: hermesTemplate, parameters });
  if (embeddingModelPath !== null) await store.add("all-minilm:22m", embeddingModelPath);
  return store;
}
