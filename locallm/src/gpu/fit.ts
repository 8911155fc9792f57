import type { Kept } from "../wire/inference/load.ts";

/** How a model's last layers are divided among devices, in the engine's order: the first device has the first of them. */
export interface Division {
  /** The output counts as one more layer after the last one. */
  readonly layers: readonly number[];
  /** Layers of which a part runs elsewhere: on a device, by its index, or on the processor (null). */
  readonly overflows: readonly {
    readonly layer: number;
    readonly kept: Kept;
    readonly device: number | null;
  }[];
}

export interface FitQuestion {
  /** In the engine's order. The margin stays free. */
  readonly devices: readonly { readonly freeBytes: number; readonly marginBytes: number }[];
  /** Without the output. */
  readonly layers: number;
  readonly hasExperts: boolean;
  /** Returns the bytes that a division takes on each device. Null ends the search. */
  readonly measure: (division: Division) => Promise<readonly number[] | null>;
}

/** What one device gets: first its whole layers, then those of which only a part is on it. */
interface Share {
  readonly layers: number;
  readonly partial: number;
  /** What stays of the first partial layer, and where the rest of it goes. Of the others the experts go to the processor. */
  readonly kept: Kept;
  readonly overflow: number | null;
}

/** Shares of all devices, what they take, and the first device that has layers without their experts. */
interface State {
  readonly shares: readonly Share[];
  readonly bytes: readonly number[];
  readonly denseFrom: number;
}

const nothing: Share = { layers: 0, partial: 0, kept: "dense", overflow: null };

/**
 * Divides a model among devices as llama.cpp does (`common/fit.cpp`), with the same answers. If it fits, it is divided by
 * free memory. Otherwise devices are filled from the last to the first, experts last: all layers that fit without their
 * experts come first, then these are completed from the first device on, and each device also gets a part of the next
 * layer if that fits. Returns null if a measurement fails.
 */
export async function fit(question: FitQuestion): Promise<Division | null> {
  try {
    return await new Fit(question).divide();
  } catch (error) {
    if (error instanceof Unmeasured) return null;
    throw error;
  }
}

class Unmeasured extends Error {}

class Fit {
  readonly #question: FitQuestion;
  /** The layers with the output. */
  readonly #all: number;
  readonly #last: number;
  readonly #targets: readonly number[];

  constructor(question: FitQuestion) {
    this.#question = question;
    this.#all = question.layers + 1;
    this.#last = question.devices.length - 1;
    this.#targets = question.devices.map(({ freeBytes, marginBytes }) => freeBytes - marginBytes);
  }

  async divide(): Promise<Division> {
    const { devices, hasExperts } = this.#question;
    const free = devices.map(({ freeBytes }) => freeBytes);
    const whole = { layers: byShares(free, this.#all), overflows: [] };
    if (this.#fits(await this.#bytesOf(whole))) return whole;
    const isSparse = hasExperts && (await this.#fitsWithoutExperts(whole));
    const dense = await this.#fillFromLast();
    return this.#division((isSparse ? await this.#complete(dense) : dense).shares);
  }

  #fits(bytes: readonly number[]): boolean {
    return bytes.every((used, index) => used <= this.#targets[index]!);
  }

  /** Whether all devices together have room for everything but the experts. */
  async #fitsWithoutExperts(whole: Division): Promise<boolean> {
    const overflows = Array.from({ length: this.#question.layers }, (_, layer) => onlyDense(layer));
    const bytes = await this.#bytesOf({ ...whole, overflows });
    return sum(this.#targets) - sum(bytes) > 0;
  }

  /** Fills the devices from the last to the first. Layers of a model with experts come without these. */
  async #fillFromLast(): Promise<State> {
    const { hasExperts } = this.#question;
    let state = await this.#measured(this.#question.devices.map(() => nothing));
    for (let id = this.#last; id >= 0; id--) {
      const given = (before: readonly Share[], layers: number) =>
        replaced(before, id, {
          ...before[id]!,
          layers,
          // The output is never partial.
          partial: hasExperts ? Math.max(0, id === this.#last ? layers - 1 : layers) : 0,
        });
      const left = this.#all - sum(state.shares.slice(id + 1).map(({ layers }) => layers));
      if (left === 0) continue;
      const { shares } = state;
      state = await this.#most(id, state, left, (step) => ({
        shares: given(shares, step),
        denseFrom: 0,
      }));
    }
    return state;
  }

  /** Completes layers from the first device on, which moves the layers without experts behind them. */
  async #complete(dense: State): Promise<State> {
    const first = dense.shares.findIndex(({ layers }) => layers > 0);
    let state = { ...dense, denseFrom: first < 0 ? this.#last : first };
    for (let id = 0; id <= Math.min(state.denseFrom, this.#last); id++) {
      const before = state;
      const convertible = sum(before.shares.slice(before.denseFrom).map(({ partial }) => partial));
      state = await this.#most(id, before, convertible, (step) => this.#converted(before, id, step));
      state = await this.#withPart(id, state);
    }
    return state;
  }

  /** Completes so many layers on a device, taken from the first devices that have layers without experts. */
  #converted({ shares, denseFrom }: State, id: number, step: number): Pick<State, "shares" | "denseFrom"> {
    let left = step;
    let from = denseFrom;
    let moved = shares;
    for (; from <= this.#last; from++) {
      const count = Math.min(left, moved[from]!.partial);
      moved = given(moved, from, { layers: -count, partial: -count });
      moved = given(moved, id, { layers: count, partial: 0 });
      left -= count;
      if (moved[from]!.partial > 0) break;
    }
    return { shares: moved, denseFrom: Math.min(from, this.#last) };
  }

  /** Puts a part of one more layer on a device: as much of it as fits. The rest goes to the next device. */
  async #withPart(id: number, state: State): Promise<State> {
    const { shares, denseFrom } = state;
    if (shares[denseFrom]!.partial === 0) return state;
    let moved = given(shares, denseFrom, { layers: -1, partial: -1 });
    moved = given(moved, id, { layers: 1, partial: 1 });
    const next = moved[denseFrom]!.partial === 0 ? Math.min(denseFrom + 1, this.#last) : denseFrom;
    const overflow = id < this.#last ? id + 1 : null;
    const attempt = async (kept: Kept): Promise<State | null> => {
      const shared = replaced(moved, id, { ...moved[id]!, kept, overflow });
      const tried = await this.#measured(shared, next);
      const has = (at: number) => at > this.#last || tried.bytes[at]! < this.#targets[at]!;
      return has(id) && has(id + 1) ? tried : null;
    };
    const withUp = await attempt("up");
    if (withUp === null) return (await attempt("attention")) ?? state;
    return (await attempt("gate")) ?? withUp;
  }

  /**
   * Returns the state with the most layers for a device, out of `most`, that its memory allows. The bytes of the bounds
   * say where to try next, so that few divisions are measured.
   */
  async #most(
    id: number,
    before: State,
    most: number,
    make: (step: number) => Pick<State, "shares" | "denseFrom">,
  ): Promise<State> {
    const target = this.#targets[id]!;
    const made = async (step: number) => {
      const { shares, denseFrom } = make(step);
      return await this.#measured(shares, denseFrom);
    };
    let low = { step: 0, state: before };
    let high = { step: most, state: await made(most) };
    if (high.state.bytes[id]! <= target) return high.state;
    // Less never takes more, so nothing fits.
    if (before.bytes[id]! > target) return before;
    while (high.step - low.step > 1) {
      const between = high.step - low.step;
      const [lowBytes, highBytes] = [low.state.bytes[id]!, high.state.bytes[id]!];
      const guess = Math.trunc((between * (target - lowBytes)) / (highBytes - lowBytes));
      const step = low.step + Math.min(Math.max(guess, 1), between - 1);
      const state = await made(step);
      if (state.bytes[id]! <= target) low = { step, state };
      else high = { step, state };
    }
    return low.state;
  }

  async #measured(shares: readonly Share[], denseFrom = 0): Promise<State> {
    return { shares, bytes: await this.#bytesOf(this.#division(shares)), denseFrom };
  }

  async #bytesOf(division: Division): Promise<readonly number[]> {
    const bytes = await this.#question.measure(division);
    if (bytes === null) throw new Unmeasured();
    return bytes;
  }

  #division(shares: readonly Share[]): Division {
    const layers = shares.map((share) => share.layers);
    let at = this.#all - sum(layers);
    const overflows = shares.flatMap(({ layers: count, partial, kept, overflow }) => {
      const first = at + count - partial;
      at += count;
      return Array.from({ length: partial }, (_, index) =>
        index === 0 ? { layer: first, kept, device: overflow } : onlyDense(first + index),
      );
    });
    return { layers, overflows };
  }
}

/** A layer of which all but the experts stays on its device. */
export function onlyDense(layer: number): Division["overflows"][number] {
  return { layer, kept: "dense", device: null };
}

/** Divides layers in proportion to shares, with the engine's rounding. */
export function byShares(shares: readonly number[], count: number): number[] {
  const layers = shares.map(() => 0);
  let total = 0;
  const ends = shares.map((share) => {
    total = Math.fround(total + Math.fround(share));
    return total;
  });
  const parts = ends.map((end) => Math.fround(end / total));
  for (let at = 0; at < count; at++) {
    const owner = parts.findIndex((end) => Math.fround(at / count) < end);
    layers[owner < 0 ? shares.length - 1 : owner]! += 1;
  }
  return layers;
}

function given(
  shares: readonly Share[],
  id: number,
  more: Pick<Share, "layers" | "partial">,
): readonly Share[] {
  const { layers, partial, ...rest } = shares[id]!;
  return replaced(shares, id, { ...rest, layers: layers + more.layers, partial: partial + more.partial });
}

function replaced(shares: readonly Share[], id: number, share: Share): readonly Share[] {
  return shares.with(id, share);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
