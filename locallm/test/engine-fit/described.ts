import { readFileSync } from "node:fs";
import { releaseFor } from "../../src/engine/libllama/release.ts";
import type { Division } from "../../src/gpu/fit.ts";

/** A model on paper: the bytes of the parts of each layer, of the output, and what a device needs to compute. */
export interface DescribedModel {
  readonly layers: number;
  readonly experts: number;
  readonly attention: number;
  readonly up: number;
  readonly gate: number;
  readonly down: number;
  readonly upExperts: number;
  readonly gateExperts: number;
  readonly downExperts: number;
  readonly cache: number;
  readonly output: number;
  readonly compute: number;
  readonly computeLayer: number;
}

export interface DescribedCase {
  readonly model: DescribedModel;
  readonly marginBytes: number;
  readonly freeBytes: readonly number[];
}

/** What llama.cpp's fit answered. Null: all layers, divided by free memory. */
export type FitAnswer = {
  readonly measured: number;
  readonly division: Division | null;
};

const mib = 2 ** 20;

/** A model with dense layers: 7/32 of a layer is attention, as in Llama. */
function dense(layers: number, layerMib: number, cacheMib: number, outputMib: number): DescribedModel {
  const part = (share: number) => Math.round(layerMib * share * mib);
  const none = { experts: 0, upExperts: 0, gateExperts: 0, downExperts: 0 };
  return {
    ...none,
    layers,
    ...{ attention: part(7 / 32), up: part(8 / 32), gate: part(8 / 32), down: part(9 / 32) },
    ...{ cache: Math.round(cacheMib * mib), output: outputMib * mib },
    ...{ compute: 256 * mib + 12_345, computeLayer: 65_536 },
  };
}

/** A model with experts; `sharedMib` is what each layer has of dense feed-forward weights. */
function sparse(
  layers: number,
  experts: number,
  sizesMib: { attention: number; shared: number; experts: number; cache: number; output: number },
): DescribedModel {
  const part = (size: number) => Math.round(size * mib);
  const { attention, shared, experts: sparseMib, cache, output } = sizesMib;
  return {
    ...{ layers, experts, attention: part(attention) },
    ...{ up: part(shared * 0.3), gate: part(shared * 0.3), down: part(shared * 0.4) },
    upExperts: part(sparseMib * 0.32),
    gateExperts: part(sparseMib * 0.32),
    downExperts: part(sparseMib * 0.36),
    ...{ cache: part(cache), output: part(output), compute: 300 * mib + 4_321, computeLayer: 131_072 },
  };
}

const models: readonly DescribedModel[] = [
  dense(16, 44, 8, 260),
  dense(32, 130, 16, 410),
  dense(48, 168, 24, 610),
  dense(80, 490, 40, 820),
  sparse(24, 32, { attention: 30, shared: 0, experts: 440, cache: 8, output: 590 }),
  sparse(48, 128, { attention: 11, shared: 0, experts: 350, cache: 8, output: 240 }),
  sparse(36, 128, { attention: 30, shared: 0, experts: 1_610, cache: 12, output: 590 }),
  sparse(61, 256, { attention: 110, shared: 25, experts: 5_900, cache: 5, output: 740 }),
];

/** In tenths of GiB. */
const machines: readonly (readonly number[])[] = [
  [9],
  [38],
  [78],
  [118],
  [236],
  [797],
  [78, 118],
  [236, 236],
  [118, 19],
  [19, 236, 78],
  [470, 470, 236],
  [797, 797, 797, 797],
  [0, 158],
];

/** Every model on every machine, with llama.cpp's usual margin; some also with another one. */
export const describedCases: readonly DescribedCase[] = models.flatMap((model, nth) =>
  machines.map((tenths, index) => ({
    model,
    marginBytes: (index + nth) % 5 === 0 ? 300 * mib : 1024 * mib,
    // No round numbers: a card's free memory is never one.
    freeBytes: tenths.map((tenth, at) => Math.floor(tenth * 107_374_182.4) + at * 7_919 + index * 131),
  })),
);

/** llama.cpp's own fit is compared with ours, whichever release runs on this system. */
const answersFile = new URL(`answers-${releaseFor("linux").version}.json`, import.meta.url);

export { answersFile };

/** One for each case. Null where an assertion of llama.cpp's fit fails. */
export function recordedAnswers(): readonly (FitAnswer | null)[] {
  return JSON.parse(readFileSync(answersFile, "utf8")) as (FitAnswer | null)[];
}

/** The bytes that a division takes on each device, by the same formula as record.cpp. */
export function describedBytes(
  { model, freeBytes }: DescribedCase,
  { layers, overflows }: Division,
): number[] {
  const bytes = freeBytes.map(() => 0);
  const owners = layers.flatMap((count, index) => new Array<number>(count).fill(index));
  const over = new Map(overflows.map((overflow) => [overflow.layer, overflow]));
  for (const [at, owner] of owners.entries()) {
    const layer = model.layers + 1 - owners.length + at;
    if (layer === model.layers) {
      bytes[owner]! += model.output;
      continue;
    }
    const kept = over.get(layer)?.kept ?? null;
    const moves = {
      up: kept === "attention",
      gate: kept === "attention" || kept === "up",
      down: kept !== null && kept !== "dense",
      experts: kept === "dense",
    };
    const { up, gate, down, upExperts, gateExperts, downExperts } = model;
    const parts = [
      [moves.up, up],
      [moves.gate, gate],
      [moves.down, down],
      // Their names begin as those of dense tensors do.
      [moves.up || moves.experts, upExperts],
      [moves.gate || moves.experts, gateExperts],
      [moves.down || moves.experts, downExperts],
    ] as const;
    bytes[owner]! += model.cache + model.attention;
    for (const [isMoved, size] of parts) {
      const device = isMoved ? over.get(layer)!.device : owner;
      if (device !== null) bytes[device]! += size;
    }
  }
  for (const [index, count] of layers.entries())
    if (count > 0) bytes[index]! += model.compute + count * model.computeLayer;
  return bytes;
}
