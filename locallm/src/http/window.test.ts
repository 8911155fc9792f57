import { expect, test } from "vitest";
import { onProcessor } from "../gpu/placement.ts";
import type { Runner, RunnerExit } from "../runner/handle.ts";
import { systemClock } from "../scheduler/clock.ts";
import type { LeaseRequest, LoadWish } from "../scheduler/lease.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { mergeOptions } from "../wire/options.ts";
import { RequestWindow, windowSource } from "./window.ts";

const mib = 2 ** 20;
const weights = 100 * mib;

/** A machine where a model takes 100 MiB and 1 MiB per 16 tokens of each window. */
function machine(memoryBytes: number, slots = 2) {
  const loads: { model: string; numCtx: number }[] = [];
  const running = new Map<string, number>();
  const size = (numCtx: number) => (numCtx / 16) * mib;
  const scheduler = createScheduler(
    {
      ...{ slots, maxLoadedModels: 2, maxQueue: 99, loadTimeoutMs: Number.POSITIVE_INFINITY },
      ...{ flashAttention: "auto", kvCacheType: "f16", sharedCache: "auto", drafts: "auto", environment: {} },
    },
    {
      clock: systemClock,
      async startRunner({ modelPath, numCtx }) {
        loads.push({ model: modelPath, numCtx });
        running.set(modelPath, size(numCtx));
        const exited = Promise.withResolvers<RunnerExit>();
        const end = () => {
          running.delete(modelPath);
          exited.resolve({ code: 0, signal: null, asked: true, stalled: false, log: [] });
          return exited.promise;
        };
        const part = size(numCtx) / 4;
        const sizeBytes = { weights, context: 2 * part, compute: part, checkpoints: part };
        const info = { contextLength: numCtx, sizeBytes, devices: [] };
        return {
          pid: 1,
          slots,
          spareBytes: 0,
          info,
          exited: exited.promise,
          close: end,
          kill: end,
        } as unknown as Runner;
      },
      needs: async (_, { numCtx }) => {
        const total = weights + size(numCtx);
        return { layers: [], hasExperts: false, output: 0, compute: 0, lookup: 0, total };
      },
      place: async (needs) => onProcessor(needs, "no GPU found"),
      // Mapped weights count as available.
      availableBytes: () => memoryBytes - [...running.values()].reduce((sum, bytes) => sum + bytes, 0),
    },
  );
  /** A request with an automatic window. */
  const request = (name = "a", trainContext: number | null = 32_768) => {
    const source = windowSource("auto", {}, {});
    const model = { name, digest: name, modelPath: name, weights: name, adapters: [], trainContext };
    const load: LoadWish = {
      ...{ numCtx: source.numCtx, whyCtx: source.why, isAutomatic: true },
      ...{ numBatch: null, numThread: null, numGpu: null, mainGpu: null, useMmap: null },
    };
    const { signal } = new AbortController();
    const asked = { model, keepAliveMs: Number.POSITIVE_INFINITY, uses: "slot", signal } as const;
    const lease = (wish: LoadWish) => scheduler.lease({ ...asked, load: wish } satisfies LeaseRequest);
    const parts = { scheduler, model, load, source, options: mergeOptions(), signal, lease };
    return { lease: () => lease(load), window: new RequestWindow(parts) };
  };
  return { scheduler, loads, request };
}

const strict = { answer: 100, canShorten: false };

test("grows to the next power of two that has room for prompt and answer", async () => {
  const { request, loads } = machine(1e12);
  const { lease, window } = request();
  let held = await lease();
  for (const [prompt, expected] of [
    [1948, 2048],
    [1949, 4096],
    [100, 4096],
    [8092, 8192],
    [20_000, 32_768],
    [32_767, 32_768],
  ] as const) {
    held = await window.grow(held, prompt, strict);
    expect(held.numCtx).toBe(expected);
  }
  expect(loads.map(({ numCtx }) => numCtx)).toEqual([2048, 4096, 8192, 32_768]);
  await expect(window.grow(held, 32_768, strict)).rejects.toMatchObject({
    code: "prompt_over_limit",
    message:
      "prompt is too long: 32768 tokens exceed the context length of 32768; shorten it: the model was trained with a window of 32768 tokens (LOCALLM_CONTEXT_LENGTH=auto)",
  });
});

test("ends at a training length that is not a power of two", async () => {
  const { request } = machine(1e12);
  const { lease, window } = request("odd", 5000);
  const grown = await window.grow(await lease(), 4500, strict);
  expect(grown.numCtx).toBe(5000);
  grown.release();
  const tiny = request("tiny", 128);
  const held = await tiny.lease();
  expect(held.numCtx).toBe(128);
  await expect(tiny.window.grow(held, 128, strict)).rejects.toMatchObject({
    details: { contextLength: 128 },
  });
  held.release();
  const unknown = request("unknown", null);
  await expect(unknown.window.grow(await unknown.lease(), 2048, strict)).rejects.toThrow(
    /does not state the window that it was trained with/,
  );
});

test("grows no further than memory allows, and keeps the model loaded", async () => {
  // 8,192 tokens take 612 MiB, 16,384 take 1,124 MiB.
  const { request, loads } = machine(900 * mib);
  const { lease, window } = request();
  const grown = await window.grow(await lease(), 6000, { answer: 9000, canShorten: false });
  expect(grown.numCtx).toBe(8192);
  await expect(window.grow(grown, 9000, strict)).rejects.toThrow(
    "prompt is too long: 9000 tokens exceed the context length of 8192; shorten it: a window of 16384 tokens needs 1.1 GiB of memory, 0.9 GiB is available (LOCALLM_CONTEXT_LENGTH=auto)",
  );
  const shortened = await window.grow(grown, Number.POSITIVE_INFINITY, { answer: 1, canShorten: true });
  expect(shortened.numCtx).toBe(8192);
  expect(loads.map(({ numCtx }) => numCtx)).toEqual([2048, 8192]);
});

test("counts the memory of an idle model, but not of one that answers", async () => {
  // The windows take 256, 128 and 512 MiB, and the weights 100 MiB.
  const { request, loads } = machine(640 * mib);
  const other = request("other");
  const busy = await other.window.grow(await other.lease(), 3000, strict);
  const { lease, window } = request();
  const held = await lease();
  await expect(window.grow(held, 7000, strict)).rejects.toThrow(/needs 0\.6 GiB of memory, 0\.4 GiB is/);
  busy.release();
  expect((await window.grow(held, 7000, strict)).numCtx).toBe(8192);
  expect(loads.map(({ model }) => model)).toEqual(["other", "other", "a", "a"]);
});

test.each([1, 2])("reloads once for parallel requests that need more, with %i slots", async (slots) => {
  const { request, loads, scheduler } = machine(1e12, slots);
  const sizes = await Promise.all(
    [5000, 3000, 5000, 200].map(async (tokens) => {
      const { lease, window } = request();
      const held = await window.grow(await lease(), tokens, strict);
      await new Promise((resolve) => setImmediate(resolve));
      held.release();
      return held.numCtx;
    }),
  );
  expect(sizes.slice(0, 3)).toEqual([8192, 8192, 8192]);
  expect(loads.map(({ numCtx }) => numCtx)).toEqual([2048, 8192]);
  expect(scheduler.view().residents).toMatchObject([
    {
      whyCtx: "LOCALLM_CONTEXT_LENGTH=auto, for a prompt of 5000 tokens and an answer of up to 100",
      numCtx: 8192,
    },
  ]);
});
