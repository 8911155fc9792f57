import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Effort, schemathesis } from "../../../testing/schemathesis.ts";
import { createModelStore } from "../model-store.ts";
import { startServerHere } from "../server-process.ts";
import { smallEncoder, smallSpec, smallTensor } from "../small-llama.ts";
import { type GgufSpec, ggufBytes, u32, withEntry } from "../tiny-gguf.ts";

const fewThreads = { parameters: { num_thread: 1, num_predict: 4, num_ctx: 256 } };

/** The models that the examples of the document ask. */
const models: Readonly<Record<string, () => GgufSpec>> = {
  "smollm2:135m": () => smallSpec("llama", 1),
  "all-minilm": () => smallEncoder(2),
  "bge-reranker-v2-m3": () => ranker(3),
};

/** Schemathesis against locallm's own document, over generated models. `examples` for each operation. */
export async function checkContract(effort: Effort): Promise<string> {
  const store = await createModelStore();
  try {
    for (const [name, spec] of Object.entries(models)) {
      const path = join(store.folder, "model.gguf");
      await writeFile(path, ggufBytes(spec()));
      await store.add(name, path, fewThreads);
      await rm(path);
    }
    const server = await startServerHere({
      models: store.folder,
      env: {
        // No registry is reached.
        HTTPS_PROXY: "http://127.0.0.1:9",
        HTTP_PROXY: "http://127.0.0.1:9",
        LOCALLM_CREDENTIALS: join(store.folder, "credentials.json"),
      },
    });
    try {
      const document = await server.ask("/openapi.json");
      const folder = new URL("./", import.meta.url);
      return await schemathesis({ ...effort, document, url: server.url, folder });
    } finally {
      await server.stop();
    }
  } finally {
    await store.remove();
  }
}

function ranker(seed: number): GgufSpec {
  const spec = withEntry(smallEncoder(seed), "bert.pooling_type", u32(4));
  return { ...spec, tensors: [...spec.tensors, smallTensor("cls.output.weight", [64, 1], seed + 1)] };
}
