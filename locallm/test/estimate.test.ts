import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readGguf } from "../src/library/gguf/header.ts";
import { startRunner } from "../src/runner/start.ts";
import { estimate } from "../src/scheduler/estimate.ts";
import { type LoadRequest, onlyProcessor } from "../src/wire/inference/load.ts";
import { embeddingModelPath } from "./model-store.ts";
import { smallLlama } from "./small-llama.ts";
import { starterModelPath } from "./starter-model.ts";

const base = {
  adapters: [],
  numCtx: 2048,
  slots: 1,
  numBatch: null,
  numThread: 1,
  placement: onlyProcessor,
  useMmap: null,
  flashAttention: "auto",
  kvCacheType: "f16",
} as const;

const starter = await starterModelPath();
let folder: string;
let small: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-estimate-"));
  small = join(folder, "small.gguf");
  await writeFile(small, smallLlama(1));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the engine allocates over what was estimated. */
async function ratio(path: string, more: Partial<LoadRequest>): Promise<number> {
  const load = { ...base, ...more, modelPath: path };
  const guessed = estimate(await readGguf(path), load);
  const runner = await startRunner(load);
  await runner.close();
  const { sizeBytes } = runner.info;
  const sum = (sizes: typeof sizeBytes) => sizes.weights + sizes.context + sizes.compute;
  return sum(sizeBytes) / sum(guessed);
}

const within = (value: number) => {
  expect(value).toBeGreaterThan(0.95);
  expect(value).toBeLessThan(1.05);
};

describe("the estimate before a load is within 5 % of what the engine allocates", () => {
  it.each<Partial<LoadRequest>>([
    {},
    { numCtx: 300 },
    { numCtx: 8192, slots: 2 },
    { numCtx: 4096, kvCacheType: "q8_0" },
    { numCtx: 4096, kvCacheType: "q4_0" },
  ])("small llama %j", async (more) => {
    within(await ratio(small, more));
  });

  it
    .skipIf(starter === null)
    .each<Partial<LoadRequest>>([
      {},
      { slots: 4 },
      { numCtx: 8192, kvCacheType: "q8_0" },
      { numBatch: 2048 },
      { flashAttention: "off", numCtx: 4096 },
    ])("starter model %j (needs the starter model)", async (more) => {
    within(await ratio(starter!, more));
  });

  it.skipIf(embeddingModelPath === null)("embedding model (needs TEST_MODELS)", async () => {
    within(await ratio(embeddingModelPath!, { numCtx: 512 }));
  });
});
