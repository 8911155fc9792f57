import { describe, expect, it } from "vitest";
import type { Device } from "../wire/inference/load.ts";
import { Accelerator } from "./accelerator.ts";
import { type LayerNeeds, type Needs, type PlacementWish, place } from "./placement.ts";

const gib = 2 ** 30;
const card = (name: string, freeGib: number, more: Partial<Device> = {}): Device => ({
  name,
  description: `${name} card`,
  kind: "gpu",
  freeBytes: freeGib * gib,
  totalBytes: freeGib * gib,
  ...more,
});
/** Half of a layer without experts is its feed-forward part. */
const layer = (bytes: number): LayerNeeds => ({
  bytes,
  elsewhere: { attention: bytes / 2, up: bytes / 3, gate: bytes / 6, dense: 0 },
});
/** Ten layers of 1 GiB, an output of 1 GiB, compute buffers of half a GiB. */
const model: Needs = {
  layers: new Array<LayerNeeds>(10).fill(layer(gib)),
  hasExperts: false,
  output: gib,
  compute: gib / 2,
  lookup: gib / 4,
  total: 11.75 * gib,
};
const wish = (more: Partial<PlacementWish> = {}): PlacementWish => ({
  numGpu: null,
  mainGpu: null,
  marginBytes: 0,
  ...more,
});

describe("place", () => {
  it.each<[string, Device[], Partial<PlacementWish>, string, RegExp]>([
    ["no device", [], {}, "", /found no device/],
    ["enough memory for all layers", [card("A", 24)], {}, "A 11", /^all 11 layers fit$/],
    ["num_gpu 0", [card("A", 24)], { numGpu: 0 }, "", /num_gpu is 0/],
    ["num_gpu below the number of layers", [card("A", 24)], { numGpu: 4 }, "A 4", /num_gpu is 4: 4 of 11/],
    [
      "num_gpu above the number of layers",
      [card("A", 24)],
      { numGpu: 99 },
      "A 11",
      /num_gpu is 99: 11 of 11/,
    ],
    [
      "too little memory for all layers",
      [card("A", 8)],
      {},
      "A 7",
      /^7 of 11 layers fit on A \(8.0 GiB free\)/,
    ],
    ["too little memory for num_gpu", [card("A", 8)], { numGpu: 11 }, "A 11", /num_gpu is 11/],
    ["too little memory for one layer", [card("A", 1.5)], {}, "", /no layer fits on A \(1.5 GiB free\)/],
    ["two cards, one of them large enough", [card("A", 16), card("B", 24)], {}, "B 11", /all 11/],
    ["main_gpu set to the smaller card", [card("A", 16), card("B", 24)], { mainGpu: 0 }, "A 11", /all 11/],
    ["a main GPU that is too small", [card("A", 4), card("B", 24)], { mainGpu: 0 }, "B 11", /all 11/],
    ["a main GPU that does not exist", [card("A", 16), card("B", 24)], { mainGpu: 7 }, "B 11", /all 11/],
    ["two cards together", [card("A", 6), card("B", 8)], {}, "B 6, A 5", /all 11/],
    [
      "two cards together, main GPU first",
      [card("A", 6), card("B", 8)],
      { mainGpu: 0 },
      "A 4, B 7",
      /all 11/,
    ],
    [
      "two cards, too small together",
      [card("A", 3), card("B", 4)],
      {},
      "B 3, A 2",
      /5 of 11 layers fit on A .*, B /,
    ],
    [
      "a discrete and an integrated GPU",
      [card("I", 64, { kind: "integrated" }), card("A", 24)],
      {},
      "A 11",
      /all/,
    ],
    ["only an integrated GPU", [card("I", 64, { kind: "integrated" })], {}, "I 11", /all/],
  ])("with %s", async (_, devices, more, expected, why) => {
    const choice = await place("/lib", devices, model, wish(more));
    const placed = choice.placement.devices.map(({ name, layers }) => `${name} ${layers}`).join(", ");
    expect([placed, choice.why]).toEqual([expected, expect.stringMatching(why)]);
    expect(choice.placement.library).toBe(expected === "" ? null : "/lib");
  });

  it("reports the memory taken on the GPU and on the CPU", async () => {
    const choice = await place("/lib", [card("A", 8)], model, wish());
    expect(choice.deviceBytes).toBe(7.5 * gib);
    expect(choice.hostBytes).toBe(4.75 * gib);
    expect(choice.isCut).toBe(true);
  });

  it("counts what a GPU takes of the host's memory twice nowhere, and once if it is the host's", async () => {
    const shared = await place("/lib", [card("M", 64, { kind: "integrated" })], model, wish());
    const own = await place("/lib", [card("M", 64)], model, wish());
    expect(shared.deviceBytes).toBe(own.deviceBytes);
    expect(shared.hostBytes).toBe(own.hostBytes + own.deviceBytes);
  });

  it("leaves the margin free", async () => {
    const layers = async (marginBytes: number) =>
      (await place("/lib", [card("A", 12)], model, wish({ marginBytes }))).placement.devices[0]!.layers;
    expect([await layers(0), await layers(gib), await layers(3.25 * gib)]).toEqual([11, 10, 8]);
  });

  /** Every layer: 0.2 GiB and 0.8 GiB of experts. */
  const sparse: Needs = {
    ...model,
    hasExperts: true,
    layers: new Array<LayerNeeds>(10).fill({
      bytes: gib,
      elsewhere: { attention: 0.8 * gib, up: 0.5 * gib, gate: 0.3 * gib, dense: 0.8 * gib },
    }),
  };

  it("leaves experts on the processor before it leaves layers there", async () => {
    const { placement, why, hostBytes } = await place("/lib", [card("A", 5)], sparse, wish());
    expect(placement.devices).toEqual([{ name: "A", layers: 11 }]);
    // All 11 layers without their experts take 3.5 GiB: one layer gets its experts, and the next one most of them.
    const [first, ...others] = placement.overflows!;
    expect(first).toEqual({ layer: 1, kept: "gate", device: null });
    expect(others.map(({ layer, kept }) => [layer, kept])).toEqual(
      Array.from({ length: 8 }, (_, index) => [2 + index, "dense"]),
    );
    expect(why).toMatch(/^11 of 11 layers, 9 of them in part, fit on A/);
    expect(hostBytes).toBeCloseTo(sparse.total - 11 * gib + 0.3 * gib + 8 * 0.8 * gib, -6);
  });

  it("keeps the experts of the first layers on the processor if the user says so", async () => {
    const { placement, hostBytes } = await place("/lib", [card("A", 24)], sparse, wish({ cpuExperts: 3 }));
    expect(placement.overflows).toEqual(
      [0, 1, 2].map((index) => ({ layer: index, kept: "dense", device: null })),
    );
    expect(hostBytes).toBeCloseTo(sparse.total - 11 * gib + 2.4 * gib, -6);
    // A model without experts has none to keep there.
    const dense = await place("/lib", [card("A", 24)], model, wish({ cpuExperts: 3 }));
    expect(dense.placement.overflows).toBeUndefined();
  });

  it("divides as tensor_split says, in the engine's order", async () => {
    const cards = [card("A", 24), card("B", 2), card("C", 24)];
    const { placement } = await place("/lib", cards, model, wish({ shares: [3, 1, 0] }));
    expect(placement.devices).toEqual([
      { name: "B", layers: 2 },
      { name: "A", layers: 9 },
    ]);
  });

  it("takes less of the memory after each failed load, down to nothing", async () => {
    let choice = await place("/lib", [card("A", 6), card("B", 8)], model, wish());
    const tried: number[][] = [];
    for (;;) {
      tried.push(choice.placement.devices.map(({ layers }) => layers));
      const before = choice;
      const smaller = await choice.smaller!();
      if (smaller === null) break;
      choice = smaller;
      expect(choice.deviceBytes).toBeLessThanOrEqual(before.deviceBytes * 0.7);
      expect(choice.hostBytes).toBeGreaterThan(before.hostBytes);
    }
    expect(tried[0]).toEqual([6, 5]);
    expect(tried.length).toBeGreaterThan(2);
  });
});

describe("Accelerator", () => {
  const backend = { backend: "cuda", folder: "/lib", furtherFolders: [], why: "", wanted: "cuda" } as const;
  const settings = { marginBytes: 0, cpuExperts: null, tensorSplit: null };
  const seen = [card("V0", 24, { description: "Intel(R) Arc(tm) A770" }), card("V1", 16)];
  const accelerator = (intelGpu: boolean, problem: string | null = null) =>
    new Accelerator(backend, async () => ({ devices: problem === null ? seen : [], problem }), {
      ...settings,
      intelGpu,
    });

  it("does not use an Intel GPU unless LOCALLM_INTEL_GPU is set", async () => {
    expect((await accelerator(false).place(model, wish())).placement.devices).toEqual([
      { name: "V1", layers: 11 },
    ]);
    expect((await accelerator(true).place(model, wish())).placement.devices).toEqual([
      { name: "V0", layers: 11 },
    ]);
  });

  it("uses the CPU if the driver cannot be used, and gives the reason", async () => {
    const choice = await accelerator(false, "libvulkan.so.1: cannot open").place(model, wish());
    expect(choice.placement.library).toBeNull();
    expect(choice.why).toContain("libvulkan.so.1: cannot open");
  });

  it("uses the next best backend if the best one's driver cannot be used", async () => {
    const find = async (folder: string) =>
      folder === "/cuda"
        ? { devices: [], problem: "libcudart.so.13: cannot open" }
        : { devices: [card("V0", 24)], problem: null };
    const both = { ...backend, folder: "/cuda", furtherFolders: ["/vulkan"] };
    const choice = await new Accelerator(both, find, { ...settings, intelGpu: false }).place(model, wish());
    expect(choice.placement).toEqual({ library: "/vulkan", devices: [{ name: "V0", layers: 11 }] });
  });

  it("queries no devices without a backend or with num_gpu 0", async () => {
    const find = () => Promise.reject(new Error("devices were queried"));
    const none = { backend: null, folder: null, furtherFolders: [], why: "no GPU found", wanted: null };
    expect(
      (await new Accelerator(none, find, { ...settings, intelGpu: false }).place(model, wish())).why,
    ).toBe("no GPU found");
    const choice = await new Accelerator(backend, find, { ...settings, intelGpu: false }).place(
      model,
      wish({ numGpu: 0 }),
    );
    expect(choice.placement.library).toBeNull();
  });
});
