import { describe, expect, it } from "vitest";
import { type Choice, type Needs, onProcessor } from "../gpu/placement.ts";
import type { MeasuredLoad } from "./memory-needs.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import { fitSlots } from "./sharing.ts";

const window = 32_768;
/** The weights take as much as two windows. */
const weights = 2 * window;

interface World {
  readonly slots?: number;
  readonly sharedCache?: SchedulerSettings["sharedCache"];
  /** In tokens of the cache. */
  readonly available: number;
  readonly gpu?: number;
  readonly canShare?: boolean;
  readonly isCramped?: boolean;
}

/** A model of which a token of the cache takes a byte. Returns what was chosen, and what was measured for it. */
async function fit({
  slots = 4,
  sharedCache = "auto",
  available,
  gpu = 0,
  canShare = true,
  isCramped = true,
}: World) {
  const measured: (number | undefined)[] = [];
  const needsOf = async (_: unknown, load: MeasuredLoad): Promise<Needs> => {
    measured.push(load.cells);
    const held = (canShare ? load.cells : undefined) ?? load.numCtx * load.slots;
    const total = weights + held;
    return { layers: [], hasExperts: false, output: 0, compute: 0, lookup: 0, total };
  };
  const parts = {
    needs: needsOf,
    place: async (needs: Needs) =>
      gpu === 0
        ? onProcessor(needs, "no GPU")
        : { ...onProcessor(needs, "a GPU"), hostBytes: 0, isCut: needs.total > gpu },
  } as unknown as SchedulerParts;
  const settings = { slots, sharedCache, kvCacheType: "f16", flashAttention: "auto" } as SchedulerSettings;
  const load = { numCtx: window, numBatch: null, numGpu: null, mainGpu: null };
  const fits = ({ hostBytes }: Choice) => hostBytes <= available;
  const found = await fitSlots(settings, parts, { model: {} as never, load, fits }, isCramped);
  return { cells: found.cells, fits: found.fits, measured };
}

describe("what the slots of a model share", () => {
  it("is nothing where all windows fit, and then nothing else is measured", async () => {
    expect(await fit({ available: weights + 4 * window })).toEqual({
      ...{ cells: undefined, fits: true },
      measured: [undefined],
    });
  });

  it("is a window and a quarter of one for each further slot where they do not", async () => {
    const cells = window * 1.75;
    expect(await fit({ available: weights + 4 * window - 1 })).toMatchObject({ cells, fits: true });
    expect(await fit({ available: weights + cells, slots: 4 })).toMatchObject({ cells, fits: true });
    expect(await fit({ available: weights + 16 * window, slots: 256 })).toMatchObject({ fits: true });
  });

  it("shrinks to one window, but not while another model could leave", async () => {
    const available = weights + window;
    expect(await fit({ available })).toMatchObject({ cells: window, fits: true });
    // Between both, a quarter of what the further slots would have.
    const some = window * (1 + 0.75 / 4);
    expect(await fit({ available: weights + some })).toMatchObject({ cells: some, fits: true });
    expect(await fit({ available, isCramped: false })).toMatchObject({ cells: 1.75 * window, fits: false });
    expect(await fit({ available: available - 1 })).toMatchObject({ cells: window, fits: false });
  });

  it("is chosen by the operator", async () => {
    const available = weights + 9 * window;
    expect(await fit({ available, sharedCache: "on" })).toMatchObject({ cells: 1.75 * window });
    expect(await fit({ available, sharedCache: "on", slots: 1 })).toMatchObject({ cells: undefined });
    expect(await fit({ available: weights, sharedCache: "off" })).toEqual({
      ...{ cells: undefined, fits: false },
      measured: [undefined],
    });
  });

  it("is nothing if the model's memory cannot be shared", async () => {
    expect(await fit({ available: weights + window, canShare: false })).toMatchObject({
      ...{ cells: undefined, fits: false },
      measured: [undefined, 1.75 * window],
    });
  });

  it("keeps all layers on a GPU that windows for all would not leave there", async () => {
    const available = 99 * window;
    expect(await fit({ available, gpu: weights + 4 * window })).toMatchObject({ cells: undefined });
    expect(await fit({ available, gpu: weights + 3 * window })).toMatchObject({ cells: 1.75 * window });
    // Some layers stay on the processor in any case.
    expect(await fit({ available, gpu: weights / 2 })).toMatchObject({ cells: undefined });
  });
});
