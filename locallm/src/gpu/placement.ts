import type { Device, Placement } from "../wire/inference/load.ts";

/** A model's memory needs in bytes. */
export interface Needs {
  /** For each layer: its weights and its share of the cache. */
  readonly layers: readonly number[];
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
}

/** Where a model will run, the memory it takes there, and why. */
export interface Choice {
  readonly placement: Placement;
  readonly hostBytes: number;
  readonly deviceBytes: number;
  /** True if only lack of GPU memory kept layers off the GPU. */
  readonly isCut: boolean;
  readonly why: string;
}

/** Memory that the driver allocates per process and does not yet subtract from the free memory it reports. */
const reserveBytes = 300 * 2 ** 20;
const reserveShare = 0.05;

/**
 * Places the model on one GPU if all layers fit there. Otherwise places it on several GPUs, otherwise as many
 * of the last layers as fit on GPUs, otherwise everything on the CPU. `library` is the folder of the engine
 * build that reported the devices.
 */
export function place(library: string, found: readonly Device[], needs: Needs, wish: PlacementWish): Choice {
  const devices = inOrder(found, wish.mainGpu);
  if (wish.numGpu === 0) return onProcessor(needs, "num_gpu is 0");
  if (devices.length === 0) return onProcessor(needs, "the engine found no device");
  const all = needs.layers.length + 1;
  const wanted = Math.min(wish.numGpu ?? all, all);
  const rooms = devices.map((device) => ({ device, bytes: usableBytes(device, needs) }));
  const layersBytes = bytesOfLast(needs, wanted);
  const alone = rooms.find(({ bytes }) => layersBytes <= bytes);
  const filled = alone === undefined ? fill(rooms, needs, wanted) : [{ ...alone, layers: wanted }];
  const fitting = filled.reduce((sum, { layers }) => sum + layers, 0);
  // An explicit number wins, so layers that do not seem to fit still go to the first device.
  const forced = wish.numGpu !== null && fitting < wanted;
  if (forced) filled[0]!.layers += wanted - fitting;
  const layers = forced ? wanted : fitting;
  if (layers < 2) return onProcessor(needs, `no layer fits on ${freeOf(devices)}`, wanted > 1);
  const used = filled.filter((one) => one.layers > 0);
  const why =
    layers < wanted
      ? `${layers} of ${all} layers fit on ${freeOf(devices)}`
      : wish.numGpu === null
        ? `all ${all} layers fit`
        : `num_gpu is ${wish.numGpu}: ${layers} of ${all} layers`;
  return chosen(
    library,
    used.map((one) => ({ name: one.device.name, layers: one.layers })),
    needs,
    { isCut: layers < wanted, why },
  );
}

/** Returns the choice after a failed load, with half as many GPU layers. Returns null if none remain. */
export function withFewerLayers({ placement }: Choice, needs: Needs): Choice | null {
  const before = placement.devices.reduce((sum, { layers }) => sum + layers, 0);
  let left = Math.floor(before / 2);
  if (placement.library === null || left < 2) return null;
  const devices = [];
  for (const device of placement.devices) {
    const layers = Math.min(device.layers, left);
    left -= layers;
    if (layers > 0) devices.push({ name: device.name, layers });
  }
  const why = `${Math.floor(before / 2)} layers instead of ${before}`;
  return chosen(placement.library, devices, needs, { isCut: false, why });
}

export function onProcessor(needs: Needs, why: string, isCut = false): Choice {
  const placement = { library: null, devices: [] };
  return { placement, hostBytes: needs.total, deviceBytes: 0, isCut, why };
}

function chosen(
  library: string,
  devices: Placement["devices"],
  needs: Needs,
  { isCut, why }: Pick<Choice, "isCut" | "why">,
): Choice {
  const layers = devices.reduce((sum, device) => sum + device.layers, 0);
  const moved = bytesOfLast(needs, layers);
  return {
    placement: { library, devices },
    hostBytes: Math.max(needs.lookup, needs.total - moved),
    deviceBytes: moved + devices.length * needs.compute,
    isCut,
    why,
  };
}

/**
 * Returns only discrete GPUs if there are any, otherwise integrated ones. The main GPU comes first, and the
 * others are sorted by free memory.
 */
function inOrder(found: readonly Device[], mainGpu: number | null): Device[] {
  const cards = found.filter(({ kind }) => kind === "gpu");
  const usable = cards.length > 0 ? cards : [...found];
  const main = mainGpu === null ? undefined : usable[mainGpu];
  const others = usable.filter((device) => device !== main).sort((a, b) => b.freeBytes - a.freeBytes);
  return main === undefined ? others : [main, ...others];
}

function usableBytes(device: Device, needs: Needs): number {
  return device.freeBytes - Math.max(reserveBytes, device.totalBytes * reserveShare) - needs.compute;
}

/** Returns the number of layers for each device. The model's last layers go to the first device. */
function fill(rooms: readonly { device: Device; bytes: number }[], needs: Needs, wanted: number) {
  let next = 0;
  return rooms.map(({ device, bytes }) => {
    const first = next;
    let left = bytes;
    while (next < wanted && bytesAt(needs, next) <= left) left -= bytesAt(needs, next++);
    return { device, layers: next - first };
  });
}

function bytesOfLast(needs: Needs, count: number): number {
  let sum = 0;
  for (let index = 0; index < count; index++) sum += bytesAt(needs, index);
  return sum;
}

/** Returns the bytes of a layer, counted from the end: 0 is the output, 1 the last layer. */
function bytesAt(needs: Needs, index: number): number {
  return index === 0 ? needs.output : (needs.layers[needs.layers.length - index] ?? 0);
}

function freeOf(devices: readonly Device[]): string {
  return devices
    .map(({ name, freeBytes }) => `${name} (${(freeBytes / 2 ** 30).toFixed(1)} GiB free)`)
    .join(", ");
}
