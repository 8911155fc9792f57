import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hermesTemplate } from "../hermes-template.ts";
import { createSmallStore, embeddingModelPath, type ModelStore } from "../model-store.ts";
import { smallEncoder, smallTensor } from "../small-llama.ts";
import { ggufBytes, u32, withEntry } from "../tiny-gguf.ts";

/**
 * The models that the clients use: a fast one with random weights that can call tools, one that thinks, one that
 * reranks, and an embedding model.
 */
export const chatModel = "tools:1";
export const thinkingModel = "thinks:1";
export const rankModel = "ranks:1";
export const embeddingModel = embeddingModelPath === null ? null : "all-minilm:22m";

export async function clientStore(): Promise<ModelStore> {
  const store = await createSmallStore();
  const parameters = { num_thread: 1, temperature: 0, num_predict: 100 };
  await store.derive(chatModel, { from: "small:a", template: hermesTemplate, parameters });
  const template =
    "{{ range .Messages }}{{ .Content }}{{ end }}{{ if .Think }}<think>{{ end }}{{ if false }}</think>{{ end }}";
  await store.derive(thinkingModel, { from: "small:a", template, parameters });
  const ranker = withEntry(smallEncoder(1), "bert.pooling_type", u32(4));
  const path = join(store.folder, "ranker.gguf");
  const head = smallTensor("cls.output.weight", [64, 1], 2);
  await writeFile(path, ggufBytes({ ...ranker, tensors: [...ranker.tensors, head] }));
  await store.add(rankModel, path);
  await rm(path);
  if (embeddingModelPath !== null) await store.add("all-minilm:22m", embeddingModelPath);
  return store;
}
