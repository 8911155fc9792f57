import { expect, test } from "vitest";
import type { LoadWish, RunnableModel } from "./lease.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import { largestWindow } from "./window-limit.ts";

/** A token of the window takes a MiB. */
const parts = {
  needs: async (_: RunnableModel, { numCtx }: { numCtx: number }) => numCtx,
  place: async (numCtx: number) => ({ hostBytes: numCtx * 2 ** 20 }),
} as unknown as SchedulerParts;

const find = (wanted: number, gib: number, { trained = 20_000 as number | null, loaded = 0 } = {}) =>
  largestWindow({} as SchedulerSettings, parts, {
    model: { trainContext: trained } as RunnableModel,
    load: {} as LoadWish,
    ...{ wanted, loaded, availableBytes: () => gib * 2 ** 30 },
  });

test("the first step with enough tokens is taken, and the last one is what the model was trained with", async () => {
  expect((await find(5_000, 100)).tokens).toBe(8_192);
  expect((await find(8_192, 100)).tokens).toBe(8_192);
  expect((await find(17_000, 100)).tokens).toBe(20_000);
  const most = await find(50_000, 100);
  expect(most).toEqual({ tokens: 20_000, why: "the model was trained with a window of 20000 tokens" });
});

test("a step that just fits is taken; the next one is not, and the reason tells both sizes", async () => {
  expect((await find(50_000, 16)).tokens).toBe(16_384);
  const less = await find(50_000, 15.9);
  expect(less).toEqual({
    tokens: 8_192,
    why: "a window of 16384 tokens needs 16.0 GiB of memory, 15.9 GiB is available",
  });
});

test("what is loaded stays if nothing larger fits, and a model that says nothing gets the first window", async () => {
  expect(await find(50_000, 1, { loaded: 16_384 })).toEqual({
    tokens: 16_384,
    why: "a window of 20000 tokens needs 19.5 GiB of memory, 1.0 GiB is available",
  });
  expect((await find(50_000, 100, { loaded: 16_384 })).tokens).toBe(20_000);
  expect((await find(50_000, 1)).tokens).toBe(2_048);
  const unstated = await find(50_000, 100, { trained: null });
  expect(unstated.why).toMatch(/does not state/);
  expect(unstated.tokens).toBe(2_048);
});
