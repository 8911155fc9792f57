import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readGguf } from "../src/library/gguf/header.ts";
import { Store } from "../src/library/store.ts";
import { measureLoad } from "../src/runner/measure.ts";
import { MemoryNeeds } from "../src/scheduler/memory-needs.ts";
import { requireModelName } from "../src/wire/model-name.ts";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import { launch, type ServerProcess, startServer, until } from "./server-process.ts";
import { softwareGpu, softwareGpus, vulkanEngines } from "./vulkan-engine.ts";

const engines = await vulkanEngines();
const model = "small:a";
const options = { num_ctx: 256 };

interface Listed {
  models: { size: number; size_vram: number; device: string }[];
}

describe.skipIf(engines === null)("a Vulkan device (needs libvulkan1 and mesa-vulkan-drivers)", () => {
  let store: ModelStore;
  let server: ServerProcess;
  beforeAll(async () => {
    store = await createSmallStore();
    const env = { LOCALLM_ENGINES: engines ?? "", LOCALLM_CONTEXT_LENGTH: "auto", ...softwareGpus };
    server = await startServer({ models: store.folder, env });
  });
  afterAll(async () => {
    await server?.stop();
    await store?.remove();
  });

  // A load on a GPU ends with a first step, during which the software driver compiles its shaders. That takes
  // half a minute, and several times as long on a busy machine.
  const shadersMs = 300_000;
  const load = async (more: object) =>
    await server.ask("/api/generate", { model, stream: false, options: { ...options, ...more } });

  it("is logged at the start", () => {
    expect(server.stdout()).toContain("Models run on the devices of GGML_VK_VISIBLE_DEVICES, using Vulkan\n");
  });

  it(
    "is given a model's layers once the vocabulary has counted the prompt",
    async () => {
      const tooLong = await server.post("/api/generate", { model, prompt: "x".repeat(5000), stream: false });
      expect(await tooLong.json()).toMatchObject({
        error: expect.stringMatching(/^prompt is too long: 5000 /),
      });
      expect((await server.ask<Listed>("/api/ps")).models[0]?.device).toMatch(/^Vulkan0 .*: 3 layers$/);
    },
    shadersMs,
  );

  it(
    "gets all layers that fit, as shown by ps, show, metrics and log",
    async () => {
      expect(await load({})).toMatchObject({ done: true, done_reason: "load" });
      const { models } = await server.ask<Listed>("/api/ps");
      expect(models).toMatchObject([{ device: expect.stringMatching(/^Vulkan0 \(.+\): 3 layers$/) }]);
      const { size, size_vram: onDevice } = models[0]!;
      expect(onDevice).toBeGreaterThan(0);
      expect(onDevice).toBeLessThanOrEqual(size);
      expect(await server.ask("/api/show", { model })).toMatchObject({
        loaded: { device: models[0]!.device, size_vram: onDevice, why: "all 3 layers fit" },
      });
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      expect(metrics).toContain(`locallm_model_bytes{model="${model}",device="Vulkan0"} ${onDevice}\n`);
      const why = "context length 2048, on Vulkan0 (all 3 layers fit)";
      await until("the log says so", () =>
        server.log.some((line) => line["what"] === "ready" && line["why"] === why),
      );
    },
    shadersMs,
  );

  it(
    "shares a model with another device as tensor_split says",
    async () => {
      const placed = async () => (await server.ask<Listed>("/api/ps")).models[0]?.device;
      await load({ tensor_split: [1, 2] });
      expect(await placed()).toMatch(/^Vulkan1 .*: 2 layers, Vulkan0 .*: 1 layer/);
      await load({ main_gpu: 1 });
      expect(await placed()).toMatch(/^Vulkan1 .*: 3 layers$/);
    },
    shadersMs,
  );

  it(
    "gets num_gpu layers, or none with num_gpu 0",
    async () => {
      await load({ num_gpu: 2 });
      expect((await server.ask<Listed>("/api/ps")).models[0]?.device).toMatch(/: 2 layers$/);
      await load({ num_gpu: 0 });
      expect((await server.ask<Listed>("/api/ps")).models).toMatchObject([{ device: "CPU", size_vram: 0 }]);
    },
    shadersMs,
  );

  it("is listed by doctor with its memory", async () => {
    const doctor = launch(["doctor", "--quick"], {
      LOCALLM_ENGINES: engines ?? "",
      LOCALLM_MODELS: store.folder,
      LOCALLM_HOST: "127.0.0.1:1",
      ...softwareGpu,
    });
    await doctor.exited;
    expect(doctor.stdout()).toMatch(/\nbackend +vulkan: .*\ndevice +Vulkan0, .+ GB free of .+ GB\n/);
  });
});

describe("layerNeeds", () => {
  it("counts all weights exactly once", async () => {
    const store = await createSmallStore();
    const { modelPaths } = await new Store(store.folder).require(requireModelName(model));
    const path = modelPaths[0] ?? "";
    const runnable = {
      name: model,
      digest: "",
      modelPath: path,
      weights: path,
      adapters: [],
      trainContext: null,
    };
    const load = {
      numCtx: 256,
      numBatch: null,
      slots: 1,
      kvCacheType: "f16",
      flashAttention: "auto",
    } as const;
    const memory = new MemoryNeeds({
      store: new Store(store.folder),
      measure: measureLoad,
      hasGpu: true,
      availableBytes: () => 1e12,
    });
    const needs = await memory.of(runnable, load);
    const { tensors } = await readGguf(join(path));
    const weights = tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const layers = needs.layers.reduce((sum, { bytes }) => sum + bytes, 0);
    const isTied = !tensors.some(({ name }) => name === "output.weight");
    const once = layers + needs.output + (isTied ? 0 : needs.lookup);
    expect(needs.total - needs.compute - once).toBe(0);
    expect(layers).toBeGreaterThan(0);
    expect(needs.output + needs.lookup).toBeLessThan(weights + (isTied ? needs.lookup : 0));
    await store.remove();
  });
});
