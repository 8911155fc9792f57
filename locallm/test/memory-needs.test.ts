import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readGguf } from "../src/library/gguf/header.ts";
import { Store } from "../src/library/store.ts";
import { measureLoad } from "../src/runner/measure.ts";
import { startRunner } from "../src/runner/start.ts";
import type { RunnableModel } from "../src/scheduler/lease.ts";
import { ampleBytes, MemoryNeeds } from "../src/scheduler/memory-needs.ts";
import { type LoadRequest, type ModelInfo, onlyProcessor } from "../src/wire/inference/load.ts";
import { embeddingModelPath } from "./model-store.ts";
import { smallLlama, smallModel } from "./small-llama.ts";
import { starterModelPath } from "./starter-model.ts";
import { ggufBytes, loadableModel, u32, withEntry } from "./tiny-gguf.ts";

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
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-memory-"));
  const embedder = withEntry(
    withEntry(loadableModel(), "llama.pooling_type", u32(1)),
    "llama.context_length",
    u32(8192),
  );
  await Promise.all([
    writeFile(join(folder, "llama"), smallLlama(1)),
    writeFile(join(folder, "gemma3"), smallModel("gemma3", 1)),
    writeFile(join(folder, "jamba"), smallModel("jamba", 1)),
    writeFile(join(folder, "embedder"), ggufBytes(embedder)),
    writeFile(join(folder, "no model"), "no model"),
  ]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const sum = (sizes: ModelInfo["sizeBytes"]) =>
  sizes.weights + sizes.context + sizes.compute + sizes.checkpoints;

/**
 * Measures a load and then loads the model. The engine must allocate what the dry load reported, within a
 * small tolerance.
 */
async function expectMeasured(path: string, more: Partial<LoadRequest>): Promise<void> {
  const load = { ...base, ...more, modelPath: path };
  const measured = await measureLoad(load);
  const runner = await startRunner(load);
  await runner.close();
  expect(measured).toEqual(runner.info.sizeBytes);
  expect(sum(runner.info.sizeBytes)).toBeGreaterThan(0);
  expect(ampleBytes(await readGguf(path), load)).toBeGreaterThanOrEqual(sum(runner.info.sizeBytes));
}

describe("a dry load measures the memory that the engine then allocates", () => {
  it.each<[string, Partial<LoadRequest>]>([
    ["llama", { numCtx: 300 }],
    ["llama", { numCtx: 8192, slots: 3, kvCacheType: "q8_0" }],
    ["llama", { numBatch: 17, flashAttention: "off" }],
    ["llama", { numCtx: 2048, slots: 64, cells: 5000 }],
    ["gemma3", { numCtx: 4096, slots: 2 }],
    ["gemma3", { numCtx: 4096, slots: 2, cells: 4096 }],
    ["jamba", { slots: 4 }],
    ["embedder", { numCtx: 8192 }],
    ["embedder", { numCtx: 100 }],
  ])("for %s with %j", async (name, more) => {
    await expectMeasured(join(folder, name), more);
  });

  it.skipIf(starter === null)("for the starter model (needs the starter model)", async () => {
    await expectMeasured(starter!, { slots: 2, numCtx: 4096, kvCacheType: "q8_0" });
  });

  it.skipIf(embeddingModelPath === null)("for an embedding model (needs TEST_MODELS)", async () => {
    await expectMeasured(embeddingModelPath!, { numCtx: 512 });
  });

  it("and reports what is wrong with a file that is not a model", async () => {
    await expect(measureLoad({ ...base, modelPath: join(folder, "no model") })).rejects.toMatchObject({
      code: "model_load_failed",
    });
  });
});

it.each([
  ["llama", 5 / 16],
  ["gemma3", 1],
  ["jamba", 1],
])(
  "the slots of %s that share a cache need this part of the memory of windows of their own: %d",
  async (name, part) => {
    const load = { ...base, modelPath: join(folder, name), numCtx: 4096, slots: 16 };
    const [own, shared] = await Promise.all([measureLoad(load), measureLoad({ ...load, cells: 5 * 4096 })]);
    expect(shared!.context / own!.context).toBeCloseTo(part, 6);
  },
);

it("a window of millions of tokens is extrapolated from shorter ones", async () => {
  const path = join(folder, "wide");
  await writeFile(path, smallLlama(4, 10_000_000));
  const memory = new MemoryNeeds({
    store: new Store(folder),
    measure: measureLoad,
    hasGpu: true,
    availableBytes: () => 0,
  });
  const runnable = {
    name: "m",
    digest: "",
    modelPath: path,
    weights: path,
    adapters: [],
    trainContext: null,
  };
  const { total } = await memory.of(runnable, { ...base, numCtx: 300_000 });
  const measured = await measureLoad({ ...base, modelPath: path, numCtx: 300_000 });
  expect(total / sum(measured!)).toBeCloseTo(1, 2);
});

describe("the memory needs of a model", () => {
  const model = (path: string): RunnableModel => ({
    name: "m",
    digest: "",
    modelPath: path,
    weights: path,
    adapters: [],
    trainContext: null,
  });

  function needs(hasGpu: boolean, availableBytes: number) {
    const loads: LoadRequest[] = [];
    const made = new MemoryNeeds({
      store: new Store(folder),
      measure: async (request) => {
        loads.push(request);
        return request.slots === 9
          ? null
          : { weights: 10, context: request.numCtx, compute: 3, checkpoints: 2 };
      },
      hasGpu,
      availableBytes: () => availableBytes,
    });
    return { made, loads };
  }

  it("are measured once for the same weights and options", async () => {
    const { made, loads } = needs(false, 0);
    const path = join(folder, "llama");
    expect((await made.of(model(path), base)).total).toBe(2063);
    await Promise.all([made.of(model(path), base), made.of({ ...model(path), name: "other" }, base)]);
    expect(loads).toHaveLength(1);
    expect((await made.of(model(path), { ...base, numCtx: 64 })).total).toBe(79);
    await writeFile(join(folder, "changing"), smallLlama(2));
    await made.of(model(join(folder, "changing")), base);
    await writeFile(join(folder, "changing"), smallLlama(3));
    await made.of(model(join(folder, "changing")), base);
    expect(loads).toHaveLength(4);
  });

  it("are not measured if memory is ample and there is no GPU", async () => {
    const path = join(folder, "llama");
    const ample = ampleBytes(await readGguf(path), base);
    const roomy = needs(false, 2 * ample);
    expect((await roomy.made.of(model(path), base)).total).toBe(ample);
    expect(roomy.loads).toEqual([]);
    for (const tight of [needs(false, 2 * ample - 1), needs(true, 100 * ample)]) {
      await tight.made.of(model(path), base);
      expect(tight.loads).toHaveLength(1);
    }
  });

  it("are estimated from the weights if the dry load returns nothing", async () => {
    const { made } = needs(false, 0);
    const path = join(folder, "llama");
    const { tensors } = await readGguf(path);
    const weights = tensors.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
    expect((await made.of(model(path), { ...base, slots: 9 })).total).toBeCloseTo(1.2 * weights, 3);
  });
});
