import { hermesTemplate } from "../hermes-template.ts";
import { createSmallStore, embeddingModelPath, type ModelStore } from "../model-store.ts";

/**
 * The models that the clients use: a fast one with random weights that can call tools, one that thinks, and
 * an embedding model.
 */
export const chatModel = "tools:1";
export const thinkingModel = "thinks:1";
export const embeddingModel = embeddingModelPath === null ? null : "all-minilm:22m";

export async function clientStore(): Promise<ModelStore> {
  const store = await createSmallStore();
  const parameters = { num_thread: 1, temperature: 0, num_predict: 100 };
  await store.derive(chatModel, { from: "small:a", template: hermesTemplate, parameters });
  const template =
    "{{ range .Messages }}{{ .Content }}{{ end }}{{ if .Think }}<think>{{ end }}{{ if false }}</think>{{ end }}";
  await store.derive(thinkingModel, { from: "small:a", template, parameters });
  if (embeddingModelPath !== null) await store.add("all-minilm:22m", embeddingModelPath);
  return store;
}
