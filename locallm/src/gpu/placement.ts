import type { Device, Kept, Placement } from "../wire/inference/load.ts";
import { byShares, type Division, fit, onlyDense } from "./fit.ts";

/** What a layer takes, in bytes. */
export interface LayerNeeds {
  /** Its weights and its share of the cache. */
  readonly bytes: number;
  /** The part of them that is not on its device if only so much of it is kept there. */
  readonly elsewhere: Readonly<Record<Kept, number>>;
}

/** A model's memory needs in bytes. */
export interface Needs {
  readonly layers: readonly LayerNeeds[];
  readonly hasExperts: boolean;
  /** The output layer. It counts as one more layer and is placed on the GPU first. */
  readonly output: number;
  /** Compute buffers that each device needs in addition. */
  readonly compute: number;
  /** The token embedding table, which always stays on the CPU. */
  readonly lookup: number;
  /** Total if the whole model runs on the CPU. */
  readonly total: number;
}

export interface PlacementWish {
  /** `num_gpu`: the number of layers on GPUs, including the output layer. Null means as many as fit. */
  readonly numGpu: number | null;
  /**
   * `main_gpu`: the index of the GPU to fill first, in the engine's order. Null selects the GPU with the most
   * free memory.
   */
  readonly mainGpu: number | null;
  /** `n_cpu_moe`: the experts of so many first layers stay on the processor. */
  readonly cpuExperts?: number | null;
  /** `tensor_split`: divides the layers among the GPUs, in the engine's order, whether they fit or not. */
  readonly shares?: readonly number[] | null;
  /** What of each device's memory stays free. Missing means `usualMarginBytes`. */
  readonly marginBytes?: number;
}

/** Where a model will run, the memory it takes there, and why. */
export interface Choice {
  readonly placement: Placement;
  readonly hostBytes: number;
  readonly deviceBytes: number;
  /** True if only lack of GPU memory kept layers, or parts of them, off the GPU. */
  readonly isCut: boolean;
  readonly why: string;
  /** What to try if this load fails. Null for the processor alone. */
  readonly smaller: (() => Promise<Choice | null>) | null;
}

/** What llama.cpp leaves free of each device's memory, for what drivers take and other programs come to need. */
export const usualMarginBytes = 2 ** 30;

/** After a failed load, the next one takes this part of the memory. */
const smallerShare = 0.7;

/**
 * Places the model on one GPU if all layers fit there, otherwise on several GPUs and the CPU as llama.cpp does. `library`
 * is the folder of the engine build that reported the devices.
 */
export async function place(
  library: string,
  found: readonly Device[],
  needs: Needs,
  wish: PlacementWish,
): Promise<Choice> {
  if (wish.numGpu === 0) return onProcessor(needs, "num_gpu is 0");
  const devices = usableOf(found, wish.mainGpu);
  if (devices.length === 0) return onProcessor(needs, "the engine found no device");
  const model = new Dividing(library, devices, needs, wish);
  const { marginBytes = usualMarginBytes } = wish;
  const all = needs.layers.length + 1;
  const wanted = Math.min(wish.numGpu ?? all, all);
  const shares = wish.shares ?? null;
  if (shares !== null) {
    const given = found.map((device, index) => ({ device, share: shares[index] ?? 0 }));
    const used = devices.map((device) => given.find((one) => one.device === device)?.share ?? 0);
    if (used.some((share) => share > 0))
      return model.choice(byShares(used, wanted), {
        isCut: false,
        why: `tensor_split is ${shares.join(",")}`,
      });
  }
  const told =
    wish.numGpu === null ? `all ${all} layers fit` : `num_gpu is ${wish.numGpu}: ${wanted} of ${all} layers`;
  const alone = model.alone(wanted, marginBytes, wish.mainGpu === null ? undefined : devices.at(-1));
  if (alone !== null) return model.choice(alone, { isCut: false, why: told });
  if (wish.numGpu !== null) {
    const free = devices.map(({ freeBytes }) => freeBytes);
    return model.choice(byShares(free, wanted), { isCut: false, why: told });
  }
  return await model.fitted(devices.map(({ freeBytes }) => ({ freeBytes, marginBytes })));
}

export function onProcessor(needs: Needs, why: string, isCut = false): Choice {
  const placement = { library: null, devices: [] };
  return { placement, hostBytes: needs.total, deviceBytes: 0, isCut, why, smaller: null };
}

/** A model that is divided among devices, which are in the engine's order. */
class Dividing {
  readonly #library: string;
  readonly #devices: readonly Device[];
  readonly #needs: Needs;
  readonly #cpuExperts: number;

  constructor(library: string, devices: readonly Device[], needs: Needs, { cpuExperts }: PlacementWish) {
    this.#library = library;
    this.#devices = devices;
    this.#needs = needs;
    this.#cpuExperts = needs.hasExperts ? Math.min(cpuExperts ?? 0, needs.layers.length) : 0;
  }

  /** The layers for each device if all run on one: the main one, or the one with the most free memory. Null if none has room. */
  alone(count: number, marginBytes: number, main: Device | undefined): number[] | null {
    const ordered = this.#devices.toSorted(
      (a, b) => Number(b === main) - Number(a === main) || b.freeBytes - a.freeBytes,
    );
    for (const device of ordered) {
      const layers = this.#devices.map((one) => (one === device ? count : 0));
      const bytes = this.#bytes(this.#complete({ layers, overflows: [] }));
      if (Math.max(...bytes) <= device.freeBytes - marginBytes) return layers;
    }
    return null;
  }

  async fitted(
    rooms: readonly { readonly freeBytes: number; readonly marginBytes: number }[],
  ): Promise<Choice> {
    const division = await fit({
      devices: rooms,
      layers: this.#needs.layers.length,
      // The user says which experts are on the processor.
      hasExperts: this.#needs.hasExperts && this.#cpuExperts === 0,
      measure: async (tried) => this.#bytes(this.#complete(tried)),
    });
    const all = this.#needs.layers.length + 1;
    const layers = division === null ? 0 : sum(division.layers);
    const free = freeOf(this.#devices);
    // The output alone is not worth the way to the device and back.
    if (division === null || layers < 2) return onProcessor(this.#needs, `no layer fits on ${free}`, true);
    // The output is never partial, whatever its place in the engine's patterns.
    const overflows = division.overflows.filter(({ layer }) => layer < this.#needs.layers.length);
    const partial = overflows.length;
    const isCut = layers < all || partial > 0;
    const parts = partial === 0 ? "" : `, ${partial} of them in part,`;
    const why = isCut ? `${layers} of ${all} layers${parts} fit on ${free}` : `all ${all} layers fit`;
    return this.choice(division.layers, { isCut, why }, overflows);
  }

  choice(
    layers: readonly number[],
    told: Pick<Choice, "isCut" | "why">,
    overflows: Division["overflows"] = [],
  ): Choice {
    const division = this.#complete({ layers, overflows });
    const bytes = this.#bytes(division);
    const targets = new Set(division.overflows.map(({ device }) => device));
    const used = this.#devices
      .map(({ name }, index) => ({ name, layers: layers[index]!, index }))
      .filter(({ layers: count, index }) => count > 0 || targets.has(index))
      .toReversed();
    const placement: Placement = {
      library: this.#library,
      devices: used.map(({ name, layers: count }) => ({ name, layers: count })),
      ...(division.overflows.length === 0
        ? {}
        : {
            overflows: division.overflows.map(({ device, ...rest }) => ({
              ...rest,
              device: device === null ? null : this.#devices[device]!.name,
            })),
          }),
    };
    const deviceBytes = sum(bytes);
    const computed = this.#needs.compute * layers.filter((count) => count > 0).length;
    const shared = sum(bytes.filter((_, index) => this.#devices[index]!.kind === "integrated"));
    return {
      placement,
      hostBytes: Math.max(this.#needs.lookup, this.#needs.total - (deviceBytes - computed)) + shared,
      deviceBytes,
      ...told,
      smaller: () => this.#smaller(sum(layers), bytes),
    };
  }

  async #smaller(before: number, bytes: readonly number[]): Promise<Choice | null> {
    const rooms = bytes.map((used) => ({ freeBytes: used * smallerShare, marginBytes: 0 }));
    const choice = await this.fitted(rooms);
    if (choice.deviceBytes === 0) return null;
    const layers = sum(choice.placement.devices.map((device) => device.layers));
    const why =
      layers < before ? `${layers} layers instead of ${before}` : `parts of ${layers} layers instead of all`;
    return { ...choice, isCut: false, why };
  }

  /** Adds the experts that the user wants on the processor. */
  #complete({ layers, overflows }: Division): Division {
    if (this.#cpuExperts === 0) return { layers, overflows };
    const first = this.#needs.layers.length + 1 - sum(layers);
    const kept = Math.max(0, this.#cpuExperts - first);
    return { layers, overflows: Array.from({ length: kept }, (_, index) => onlyDense(first + index)) };
  }

  /** The bytes that a division takes on each device. */
  #bytes({ layers, overflows }: Division): number[] {
    const { layers: needed, output, compute } = this.#needs;
    const over = new Map(overflows.map((overflow) => [overflow.layer, overflow]));
    const bytes = layers.map((count) => (count > 0 ? compute : 0));
    let at = needed.length + 1 - sum(layers);
    for (const [owner, count] of layers.entries()) {
      for (let end = at + count; at < end; at++) {
        const layer = needed[at];
        const overflow = over.get(at);
        const elsewhere = overflow === undefined ? 0 : (layer?.elsewhere[overflow.kept] ?? 0);
        bytes[owner]! += (layer?.bytes ?? output) - elsewhere;
        if (overflow !== undefined && overflow.device !== null) bytes[overflow.device]! += elsewhere;
      }
    }
    return bytes;
  }
}

/** Returns only discrete GPUs if there are any, otherwise integrated ones, in the engine's order. The main GPU comes last. */
function usableOf(found: readonly Device[], mainGpu: number | null): Device[] {
  const cards = found.filter(({ kind }) => kind === "gpu");
  const usable = cards.length > 0 ? cards : [...found];
  const main = mainGpu === null ? undefined : usable[mainGpu];
  return main === undefined ? usable : [...usable.filter((device) => device !== main), main];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function freeOf(devices: readonly Device[]): string {
  return devices
    .map(({ name, freeBytes }) => `${name} (${(freeBytes / 2 ** 30).toFixed(1)} GiB free)`)
    .join(", ");
}
