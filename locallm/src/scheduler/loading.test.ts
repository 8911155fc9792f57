import { describe, expect, it } from "vitest";
import { type Choice, type Needs, onProcessor, place } from "../gpu/placement.ts";
import type { Runner, RunnerExit, StartRunner } from "../runner/handle.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Device } from "../wire/inference/load.ts";
import { systemClock } from "./clock.ts";
import type { LeaseRequest, Scheduler } from "./lease.ts";
import { createScheduler } from "./scheduler.ts";

const gib = 2 ** 30;
/**
 * A scheduler with a GPU of `gpuGib` GiB that the loaded models share. A load fails with the error that
 * `refuse` returns.
 */
function world(
  gpuGib: number,
  refuse: (layers: number) => Error | null,
  { maxLoadedModels = 1, layerGib = 1 } = {},
) {
  const layers = new Array<number>(7).fill(layerGib * gib);
  const needs: Needs = { layers, output: gib, compute: 0, lookup: 0, total: 8 * gib };
  const tried: number[] = [];
  const taken = new Map<string, number>();
  const startRunner: StartRunner = async (load) => {
    const layers = load.placement.devices.reduce((sum, device) => sum + device.layers, 0);
    tried.push(layers);
    const error = refuse(layers);
    if (error !== null) throw error;
    taken.set(load.modelPath, layers);
    const exited = Promise.withResolvers<RunnerExit>();
    const end = () => {
      taken.delete(load.modelPath);
      exited.resolve({ code: 0, signal: null, asked: true, stalled: false, log: [] });
      return exited.promise;
    };
    const devices = load.placement.devices.map((one) => ({
      ...one,
      description: "",
      bytes: one.layers * gib,
    }));
    const info = {
      contextLength: load.numCtx,
      sizeBytes: { weights: 8 * gib, context: 0, compute: 0, checkpoints: 0 },
      devices,
    };
    return { pid: 1, slots: 1, info, exited: exited.promise, close: end, kill: end } as unknown as Runner;
  };
  const device = (): Device => ({
    name: "G0",
    description: "",
    kind: "gpu",
    freeBytes: (gpuGib - [...taken.values()].reduce((sum, layers) => sum + layers, 0)) * gib,
    totalBytes: gpuGib * gib,
  });
  const scheduler = createScheduler(
    {
      slots: 1,
      maxLoadedModels,
      maxQueue: 9,
      loadTimeoutMs: Number.POSITIVE_INFINITY,
      flashAttention: "auto",
      kvCacheType: "f16",
      environment: {},
    },
    {
      clock: systemClock,
      startRunner,
      needs: async () => needs,
      place: async (needed, wish): Promise<Choice> =>
        gpuGib === 0 ? onProcessor(needed, "no GPU found") : place("/lib", [device()], needed, wish),
      availableBytes: () => 64 * gib,
    },
  );
  return { scheduler, tried };
}

function request(name = "m"): LeaseRequest {
  return {
    model: { name, digest: name, modelPath: name, weights: name, adapters: [], trainContext: null },
    load: { numCtx: 64, numBatch: null, numThread: null, numGpu: null, mainGpu: null, useMmap: null },
    keepAliveMs: Number.POSITIVE_INFINITY,
    uses: "slot",
    signal: new AbortController().signal,
  };
}

const noMemory = new LocallmError("model_load_failed", { reason: "out of device memory" });
const crash = new LocallmError("runner_died", { reason: "SIGSEGV" });
const retries = (scheduler: Scheduler) =>
  scheduler
    .view()
    .decisions.filter(({ what }) => what === "retry")
    .map(({ why }) => why);

describe("a load on a GPU", () => {
  it("is tried once if it succeeds, and shows its placement", async () => {
    const { scheduler, tried } = world(24, () => null);
    await scheduler.lease(request());
    expect(tried).toEqual([8]);
    expect(scheduler.view().residents).toMatchObject([
      { devices: [{ name: "G0", layers: 8, bytes: 8 * gib }], whyThere: "all 8 layers fit" },
    ]);
    await scheduler.close(0);
  });

  it("is retried with fewer layers if it fails", async () => {
    const { scheduler, tried } = world(24, (layers) => (layers > 4 ? noMemory : null));
    await scheduler.lease(request());
    expect(tried).toEqual([8, 4]);
    expect(retries(scheduler)).toEqual(["4 layers instead of 8: model failed to load: out of device memory"]);
    expect(scheduler.view().residents[0]?.whyThere).toBe(retries(scheduler)[0]);
    await scheduler.close(0);
  });

  it("falls back to the CPU if it fails twice, even by a driver crash", async () => {
    const { scheduler, tried } = world(24, (layers) => (layers > 0 ? crash : null));
    await scheduler.lease(request());
    expect(tried).toEqual([8, 4, 0]);
    expect(retries(scheduler)[1]).toMatch(/^CPU instead of GPU: .*SIGSEGV/);
    expect(scheduler.view().residents[0]?.devices).toEqual([]);
    await scheduler.close(0);
  });

  it("fails with the last error if every placement fails", async () => {
    const { scheduler, tried } = world(24, () => noMemory);
    await expect(scheduler.lease(request())).rejects.toBe(noMemory);
    expect(tried).toEqual([8, 4, 0]);
  });

  it("is not retried if no other placement could help", async () => {
    const { scheduler, tried } = world(24, () => new LocallmError("invalid_gguf", { rule: "x" }));
    await expect(scheduler.lease(request())).rejects.toMatchObject({ code: "invalid_gguf" });
    expect(tried).toEqual([8]);
  });

  it("takes the layers that fit if no other model is loaded", async () => {
    const { scheduler, tried } = world(5, () => null);
    await scheduler.lease(request());
    expect(tried).toEqual([4]);
    await scheduler.close(0);
  });

  it("waits for another model to be unloaded if that model holds the GPU's memory", async () => {
    const { scheduler, tried } = world(12, () => null, { maxLoadedModels: 2 });
    (await scheduler.lease(request("first"))).release();
    await scheduler.lease(request("second"));
    expect(tried).toEqual([8, 8]);
    expect(scheduler.view().residents.map(({ model }) => model.name)).toEqual(["second"]);
    await scheduler.close(0);
  });
});

it("a model with no layer that fits on the GPU does not evict a model that is not on the GPU either", async () => {
  const { scheduler, tried } = world(12, () => null, { maxLoadedModels: 2, layerGib: 20 });
  (await scheduler.lease(request("first"))).release();
  await scheduler.lease(request("second"));
  expect(tried).toEqual([0, 0]);
  expect(scheduler.view().residents.map(({ model }) => model.name)).toEqual(["first", "second"]);
  await scheduler.close(0);
});

it("a load on the CPU is tried once", async () => {
  const { scheduler, tried } = world(0, () => noMemory);
  await expect(scheduler.lease(request())).rejects.toBe(noMemory);
  expect(tried).toEqual([0]);
});
