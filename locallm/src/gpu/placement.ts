import type { Device, Placement } from "../wire/inference/load.ts";

/** What a model takes, piece by piece, in bytes. */
export interface Needs {
  /** Each layer: its weights and its part of the cache. */
  readonly layers: readonly number[];
  /** The step from the last layer to tokens; it counts as one more layer and goes to the devices first. */
  readonly output: number;
  /** What every device takes besides, to compute in. */
  readonly compute: number;
  /** What stays on the processor in any case: the table that tokens are looked up in. */
  readonly lookup: number;
  /** Everything, were it all on the processor. */
  readonly total: number;
}

export interface PlacementWish {
  /** `num_gpu`: layers on the devices, the output included; null: as many as fit. */
  readonly numGpu: number | null;
  /** `main_gpu`: the device that is filled first, by the engine's order; null: the one with most memory free. */
  readonly mainGpu: number | null;
}

/** Where a model is to compute, what that takes, and why there. */
export interface Choice {
  readonly placement: Placement;
  readonly hostBytes: number;
  readonly deviceBytes: number;
  /** Fewer layers than there are, for lack of memory alone: more room would change it. */
  readonly isCut: boolean;
  readonly why: string;
}

/** A driver's own memory for a process, which its list of free memory does not know yet. */
const reserveBytes = 300 * 2 ** 20;
const reserveShare = 0.05;

/**
 * Fills the devices by what the model needs: one alone if all layers fit on it, else several, else as many of the last layers
 * as fit, else the processor. `library`: the folder of the build that knows the devices.
 */
export function place(library: string, found: readonly Device[], needs: Needs, wish: PlacementWish): Choice {
  const devices = inOrder(found, wish.mainGpu);
  if (wish.numGpu === 0) return onProcessor(needs, "num_gpu is 0");
  if (devices.length === 0) return onProcessor(needs, "the engine sees no device");
  const all = needs.layers.length + 1;
  const wanted = Math.min(wish.numGpu ?? all, all);
  const rooms = devices.map((device) => ({ device, bytes: roomOf(device, needs) }));
  const layersBytes = bytesOfLast(needs, wanted);
  const alone = rooms.find(({ bytes }) => layersBytes <= bytes);
  const filled = alone === undefined ? fill(rooms, needs, wanted) : [{ ...alone, layers: wanted }];
  const fitting = filled.reduce((sum, { layers }) => sum + layers, 0);
  // An explicit number wins: layers that seem not to fit go to the first device all the same.
  const forced = wish.numGpu !== null && fitting < wanted;
  if (forced) filled[0]!.layers += wanted - fitting;
  const layers = forced ? wanted : fitting;
  if (layers < 2) return onProcessor(needs, `no layer fits into ${freeOf(devices)}`, wanted > 1);
  const used = filled.filter((one) => one.layers > 0);
  const why =
    layers < wanted
      ? `${layers} of ${all} layers fit into ${freeOf(devices)}`
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

/** After a load that failed: half as many layers; null where that leaves none. */
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
  const why = `${Math.floor(before / 2)} layers in place of ${before}`;
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

/** Cards of their own before those that share the processor's memory; the main one first, then the freest. */
function inOrder(found: readonly Device[], mainGpu: number | null): Device[] {
  const cards = found.filter(({ kind }) => kind === "gpu");
  const usable = cards.length > 0 ? cards : [...found];
  const main = mainGpu === null ? undefined : usable[mainGpu];
  const others = usable.filter((device) => device !== main).sort((a, b) => b.freeBytes - a.freeBytes);
  return main === undefined ? others : [main, ...others];
}

function roomOf(device: Device, needs: Needs): number {
  return device.freeBytes - Math.max(reserveBytes, device.totalBytes * reserveShare) - needs.compute;
}

/** Layers for each device, the last ones of the model to the first device. */
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

/** From the end: the output, then the last layer. */
function bytesAt(needs: Needs, index: number): number {
  return index === 0 ? needs.output : (needs.layers[needs.layers.length - index] ?? 0);
}

function freeOf(devices: readonly Device[]): string {
  return devices
    .map(({ name, freeBytes }) => `${name} (${(freeBytes / 2 ** 30).toFixed(1)} GiB free)`)
    .join(", ");
}
