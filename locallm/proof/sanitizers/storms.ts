import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Random } from "../../../fuzz/random.ts";
import { seeded, vanishing } from "../../test/crowd.ts";
import { runCampaign } from "../../test/hostile-gguf.ts";
import { createModelStore } from "../../test/model-store.ts";
import { startServer } from "../../test/server-process.ts";
import { smallAdapter, smallEncoder, smallModel } from "../../test/small-llama.ts";
import { ggufBytes } from "../../test/tiny-gguf.ts";

// A program of its own: `sanitizers.ts` starts it in a copy whose engine was built with sanitizers.
const [answers = 5_000, files = 1_000] = process.argv.slice(2).map(Number);

const store = await createModelStore();
const add = async (name: string, bytes: Buffer, more = {}) => {
  const path = join(store.folder, "model.gguf");
  await writeFile(path, bytes);
  await store.add(name, path, { parameters: { num_thread: 1 }, ...more });
  await rm(path);
};
const architectures = ["llama", "qwen3", "gemma3", "mamba", "jamba"] as const;
for (const [seed, architecture] of architectures.entries())
  await add(architecture, smallModel(architecture, seed));
await add("encoder", ggufBytes(smallEncoder(7)));
const adapter = join(store.folder, "adapter.gguf");
await writeFile(adapter, smallAdapter(5));
await store.derive("adapted", { from: "llama", adapters: { "lora.gguf": await store.put(adapter) } });

const server = await startServer({
  models: store.folder,
  env: { LOCALLM_NUM_PARALLEL: "4", LOCALLM_LOAD_TIMEOUT: "10m" },
});
const row = (what: string, count: number) => console.log(`| ${what} | ${count} |`);
try {
  const random = seeded(11);
  let left = 0;
  let served = 0;
  const models = [...architectures, "adapted"];
  const each = Math.ceil(answers / models.length);
  for (const model of models) {
    for (let sent = 0; sent < each; sent += 20) {
      const outcome = await vanishing(server, model, Math.min(20, each - sent), random);
      left += outcome.left;
      served += outcome.served;
    }
    const { models: loaded } = await server.ask<{ models: { pid?: number; name: string }[] }>("/api/ps");
    if (loaded.length === 0) throw new Error(`${model} is not loaded`);
    checkEngine();
  }
  row("answers that were cancelled", left);
  row("answers that were read to their end", served);
  row("embeddings", await embed(200));
  row("answers by a schema", await structured(100));
  const campaign = await runCampaign(server, {
    count: files,
    loads: Math.ceil(files / 10),
    seed: 20_261_128,
  });
  row("hostile files", campaign.files);
  row("of which the gate refused", campaign.refused);
  row("of which the engine opened", campaign.loaded);
  for (const crash of campaign.crashes) console.log(`\n- ended the runner: ${crash}`);
  if (campaign.crashes.length > 0) process.exitCode = 1;
} finally {
  await server.stop();
  await store.remove();
}

/** That a runner has the library with sanitizers open. */
function checkEngine(): void {
  const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim().split(" ");
  const maps = children.map((pid) => readFileSync(`/proc/${pid}/maps`, "utf8"));
  if (!maps.some((text) => /libasan/.test(text) && /\/bin\/libllama\.so/.test(text)))
    throw new Error("no runner has the engine with sanitizers open");
}

/** Texts of odd lengths and characters. */
async function embed(count: number): Promise<number> {
  const random = new Random(3);
  for (let n = 0; n < count; n++) {
    const input = Array.from({ length: 1 + random.below(5) }, () =>
      String.fromCodePoint(...Array.from({ length: random.below(200) }, () => 1 + random.below(0xd7ff))),
    );
    await (await server.post("/api/embed", { model: "encoder", input })).arrayBuffer();
  }
  return count;
}

async function structured(count: number): Promise<number> {
  for (let n = 0; n < count; n++) {
    const format = {
      type: "object",
      properties: { a: { type: "array", maxItems: n % 7 }, b: { type: "string", maxLength: n } },
      required: ["a"],
    };
    const options = { num_predict: 40, seed: n, temperature: 1, top_k: n % 50, mirostat: n % 3 };
    const body = { model: "llama", prompt: `${n}`, format, options, stream: false, logprobs: n % 2 === 0 };
    await (await server.post("/api/generate", body)).arrayBuffer();
  }
  return count;
}
