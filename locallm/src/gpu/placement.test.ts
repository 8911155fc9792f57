import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Device } from "../wire/inference/load.ts";
import { Accelerator } from "./accelerator.ts";
import { type Needs, type PlacementWish, place, withFewerLayers } from "./placement.ts";

const gib = 2 ** 30;
const card = (name: string, freeGib: number, more: Partial<Device> = {}): Device => ({
  name,
  description: `${name} card`,
  kind: "gpu",
  freeBytes: freeGib * gib,
  totalBytes: freeGib * gib,
  ...more,
});
/** Ten layers of 1 GiB, an output of 1 GiB, compute buffers of half a GiB. */
const model: Needs = {
  layers: new Array<number>(10).fill(gib),
  output: gib,
  compute: gib / 2,
  lookup: gib / 4,
  total: 11.75 * gib,
};
const wish = (more: Partial<PlacementWish> = {}): PlacementWish => ({ numGpu: null, mainGpu: null, ...more });

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
    ["two cards together", [card("A", 6), card("B", 8)], {}, "B 7, A 4", /all 11/],
    [
      "two cards together, main GPU first",
      [card("A", 6), card("B", 8)],
      { mainGpu: 0 },
      "A 5, B 6",
      /all 11/,
    ],
    [
      "two cards, too small together",
      [card("A", 3), card("B", 4)],
      {},
      "B 3, A 2",
      /5 of 11 layers fit on B .*, A /,
    ],
    [
      "a discrete and an integrated GPU",
      [card("I", 64, { kind: "integrated" }), card("A", 24)],
      {},
      "A 11",
      /all/,
    ],
    ["only an integrated GPU", [card("I", 64, { kind: "integrated" })], {}, "I 11", /all/],
  ])("with %s", (_, devices, more, expected, why) => {
    const choice = place("/lib", devices, model, wish(more));
    const placed = choice.placement.devices.map(({ name, layers }) => `${name} ${layers}`).join(", ");
    expect([placed, choice.why]).toEqual([expected, expect.stringMatching(why)]);
    expect(choice.placement.library).toBe(expected === "" ? null : "/lib");
  });

  it("reports the memory taken on the GPU and on the CPU", () => {
    const choice = place("/lib", [card("A", 8)], model, wish());
    expect(choice.deviceBytes).toBe(7.5 * gib);
    expect(choice.hostBytes).toBe(4.75 * gib);
    expect(choice.isCut).toBe(true);
  });

  it("does not exceed a device's memory, unless num_gpu is set", () => {
    const sizes = fc.integer({ min: 0, max: 40 });
    fc.assert(
      fc.property(
        fc.array(sizes, { maxLength: 4 }),
        fc.array(sizes, { minLength: 1, maxLength: 60 }),
        (free, layers) => {
          const devices = free.map((gibs, index) => card(`D${index}`, gibs));
          const needs = { ...model, layers: layers.map((tenths) => (tenths / 10) * gib) };
          const choice = place("/lib", devices, needs, wish());
          let at = needs.layers.length;
          for (const [index, { name, layers: count }] of choice.placement.devices.entries()) {
            let bytes = needs.compute;
            for (let n = 0; n < count; n++)
              bytes += index === 0 && n === 0 ? needs.output : needs.layers[--at]!;
            expect(bytes).toBeLessThanOrEqual(devices.find((device) => device.name === name)!.freeBytes);
          }
          expect(at).toBeGreaterThanOrEqual(0);
        },
      ),
      { seed: 12 },
    );
  });

  it("halves the layers after each failed load, down to none", () => {
    const choice = place("/lib", [card("A", 6), card("B", 8)], model, wish());
    const halved = withFewerLayers(choice, model)!;
    expect(halved.placement.devices).toEqual([{ name: "B", layers: 5 }]);
    const again = withFewerLayers(halved, model)!;
    expect(again.placement.devices).toEqual([{ name: "B", layers: 2 }]);
    expect(withFewerLayers(again, model)).toBeNull();
  });
});

describe("Accelerator", () => {
  const backend = { backend: "cuda", folder: "/lib", furtherFolders: [], why: "", wanted: "cuda" } as const;
  const seen = [card("V0", 24, { description: "Intel(R) Arc(tm) A770" }), card("V1", 16)];
  const accelerator = (intelGpu: boolean, problem: string | null = null) =>
    new Accelerator(backend, async () => ({ devices: problem === null ? seen : [], problem }), { intelGpu });

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
    const choice = await new Accelerator(both, find, { intelGpu: false }).place(model, wish());
    expect(choice.placement).toEqual({ library: "/vulkan", devices: [{ name: "V0", layers: 11 }] });
  });

  it("queries no devices without a backend or with num_gpu 0", async () => {
    const find = () => Promise.reject(new Error("devices were queried"));
    const none = { backend: null, folder: null, furtherFolders: [], why: "no GPU found", wanted: null };
    expect((await new Accelerator(none, find, { intelGpu: false }).place(model, wish())).why).toBe(
      "no GPU found",
    );
    const choice = await new Accelerator(backend, find, { intelGpu: false }).place(
      model,
      wish({ numGpu: 0 }),
    );
    expect(choice.placement.library).toBeNull();
  });
});
