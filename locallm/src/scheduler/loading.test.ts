import { describe, expect, it } from "vitest";
import { type Choice, type LayerNeeds, type Needs, onProcessor, place } from "../gpu/placement.ts";
import type { LoadedVocabulary, Runner, RunnerExit, StartRunner } from "../runner/handle.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Device } from "../wire/inference/load.ts";
import { systemClock } from "./clock.ts";
import type { LeaseRequest, Scheduler } from "./lease.ts";
import type { MeasuredLoad } from "./memory-needs.ts";
import type { SchedulerSettings } from "./parts.ts";
import { createScheduler } from "./scheduler.ts";

const gib = 2 ** 30;
/**
 * A scheduler with a GPU of `gpuGib` GiB that the loaded models share. A load fails with the error that
 * `refuse` returns.
 */
function world(
  gpuGib: number,
  refuse: (layers: number) => Error | null,
  {
    maxLoadedModels = 1,
    layerGib = 1,
    slots = 1,
    sharedCache = "auto" as SchedulerSettings["sharedCache"],
    cellGib = 0,
    availableGib = 64,
  } = {},
) {
  /** A window of 2,048 tokens takes as much as the weights. */
  const needs = ({ numCtx, cells = slots * numCtx }: MeasuredLoad): Needs => {
    const bytes = layerGib * gib * (numCtx < 2048 ? 1 : 2);
    const elsewhere = { attention: 0, up: 0, gate: 0, dense: 0 };
    const layers = new Array<LayerNeeds>(7).fill({ bytes, elsewhere });
    return {
      layers,
      hasExperts: false,
      output: gib,
      compute: 0,
      lookup: 0,
      total: (numCtx < 2048 ? 8 * gib : 15 * gib) + cells * cellGib * gib,
    };
  };
  const tried: number[] = [];
  const taken = new Map<string, number>();
  const startRunner: StartRunner = async (asked, start) => {
    const load = { ...asked, ...(await start?.chooseWindow?.({} as LoadedVocabulary)) };
    const layers = load.placement.devices.reduce((sum, device) => sum + device.layers, 0);
    tried.push(layers);
    const error = refuse(layers);
    if (error !== null) throw error;
    taken.set(load.modelPath, layers * (load.numCtx < 2048 ? 1 : 2));
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
      cells: load.cells,
      sizeBytes: { weights: 8 * gib, context: 0, compute: 0, checkpoints: 0 },
      devices,
    };
    return {
      pid: 1,
      slots: 1,
      spareBytes: 0,
      info,
      exited: exited.promise,
      close: end,
      kill: end,
    } as unknown as Runner;
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
      slots,
      maxLoadedModels,
      maxQueue: 9,
      loadTimeoutMs: Number.POSITIVE_INFINITY,
      flashAttention: "auto",
      kvCacheType: "f16",
      sharedCache,
      drafts: "auto",
      environment: {},
    },
    {
      clock: systemClock,
      startRunner,
      needs: async (_, load) => needs(load),
      place: async (needed, wish): Promise<Choice> =>
        gpuGib === 0
          ? onProcessor(needed, "no GPU found")
          : place("/lib", [device()], needed, { ...wish, marginBytes: gib / 4 }),
      availableBytes: () => availableGib * gib,
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
    expect(scheduler.view().decisions.at(-1)).toMatchObject({
      ...{ what: "ready", why: "context length 64, on G0 (all 8 layers fit)" },
    });
    await scheduler.close(0);
  });

  it("is retried with fewer layers if it fails", async () => {
    const { scheduler, tried } = world(24, (layers) => (layers > 4 ? noMemory : null));
    await scheduler.lease(request());
    expect(tried).toEqual([8, 5, 3]);
    expect(retries(scheduler)).toEqual([
      "5 layers instead of 8: model failed to load: out of device memory",
      "3 layers instead of 5: model failed to load: out of device memory",
    ]);
    expect(scheduler.view().residents[0]?.whyThere).toBe(retries(scheduler)[1]);
    await scheduler.close(0);
  });

  it("falls back to the CPU if it fails three times, even by a driver crash", async () => {
    const { scheduler, tried } = world(24, (layers) => (layers > 0 ? crash : null));
    await scheduler.lease(request());
    expect(tried).toEqual([8, 5, 3, 0]);
    expect(retries(scheduler)[2]).toMatch(/^CPU instead of GPU: .*SIGSEGV/);
    expect(scheduler.view().residents[0]?.devices).toEqual([]);
    await scheduler.close(0);
  });

  it("fails with the last error if every placement fails", async () => {
    const { scheduler, tried } = world(24, () => noMemory);
    await expect(scheduler.lease(request())).rejects.toBe(noMemory);
    expect(tried).toEqual([8, 5, 3, 0]);
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

describe("a window that is chosen by the vocabulary", () => {
  /** A request whose prompt needs 2,048 tokens. */
  const long = (name = "m") => {
    const asked = request(name);
    let sizings = 0;
    const sizing = async () => {
      sizings++;
      return { ...asked.load, numCtx: 2048 };
    };
    return { asked: { ...asked, sizing }, sizings: () => sizings };
  };

  it("decides how many layers go to the GPU, in one load", async () => {
    const { scheduler, tried } = world(12, () => null);
    const { info } = await scheduler.lease(long().asked);
    expect(info).toMatchObject({ contextLength: 2048, devices: [{ layers: 6 }] });
    expect(tried).toEqual([6]);
    expect(scheduler.view().residents[0]?.whyThere).toMatch(/^6 of 8 layers fit on G0/);
    await scheduler.close(0);
  });

  it("is kept if the load fails and is retried with fewer layers, then on the CPU", async () => {
    const { scheduler, tried } = world(12, (layers) => (layers > 0 ? noMemory : null));
    const { asked, sizings } = long();
    const { info } = await scheduler.lease(asked);
    expect(info).toMatchObject({ contextLength: 2048, devices: [] });
    expect([tried, sizings()]).toEqual([[6, 4, 2, 0], 1]);
    await scheduler.close(0);
  });

  it("stays as it is if it is enough already, or if nothing is known to need more", async () => {
    const { load } = request();
    const asked = { ...request(), load: { ...load, whyCtx: "asked" } };
    for (const wish of [null, { ...load, numCtx: 32 }, { ...load, whyCtx: "for the prompt" }]) {
      const { scheduler, tried } = world(12, () => null);
      const { info } = await scheduler.lease({ ...asked, sizing: async () => wish });
      expect([info.contextLength, tried]).toEqual([64, [8]]);
      expect(scheduler.view().residents[0]).toMatchObject({ numCtx: 64, whyCtx: "asked" });
      await scheduler.close(0);
    }
  });

  it("grows together with what the slots share, and does not make them share what they did not", async () => {
    const grown = async (sharedCache: SchedulerSettings["sharedCache"], availableGib: number) => {
      const { scheduler } = world(0, () => null, { slots: 2, sharedCache, cellGib: 1 / 64, availableGib });
      const { load } = request();
      await scheduler.lease({ ...request(), sizing: async () => ({ ...load, numCtx: 128 }) });
      const { numCtx, sharedCells } = scheduler.view().residents[0]!;
      await scheduler.close(0);
      return [numCtx, sharedCells];
    };
    expect(await grown("on", 64)).toEqual([128, 128 + 32]);
    // Two windows of 128 tokens take 4 GiB beside the weights.
    expect(await grown("auto", 12)).toEqual([128, null]);
    expect(await grown("auto", 11.9)).toEqual([64, null]);
  });

  it("does not grow while another model takes the GPU's memory that it needs", async () => {
    const { scheduler, tried } = world(20, () => null, { maxLoadedModels: 2 });
    (await scheduler.lease(request("first"))).release();
    const small = await scheduler.lease(long("second").asked);
    expect(small.info).toMatchObject({ contextLength: 64, devices: [{ layers: 8 }] });
    small.release();
    // The request asks for the larger window, and the other model leaves.
    const asked = request("second");
    const { info } = await scheduler.lease({ ...asked, load: { ...asked.load, numCtx: 2048 } });
    expect(info).toMatchObject({ contextLength: 2048, devices: [{ layers: 8 }] });
    expect(scheduler.view().residents.map(({ model }) => model.name)).toEqual(["second"]);
    expect(tried).toEqual([8, 8, 8]);
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

it("the slots of a model share as small a cache as there is room for, and its runner is told", async () => {
  // The weights, and a window for each of both slots, take 10 GiB.
  const loaded = async (availableGib: number) => {
    const { scheduler } = world(0, () => null, { slots: 2, cellGib: 1 / 64, availableGib });
    await scheduler.lease(request());
    const { residents, decisions } = scheduler.view();
    await scheduler.close(0);
    return [residents[0]!.sharedCells, decisions.find(({ what }) => what === "ready")!.why];
  };
  const where = "on the CPU (no GPU found)";
  expect(await loaded(10)).toEqual([null, `context length 64, ${where}`]);
  expect(await loaded(9)).toEqual([64, `context length 64, the slots share a cache of 64 tokens, ${where}`]);
  await expect(loaded(8.9)).rejects.toMatchObject({ code: "model_too_large" });
});
