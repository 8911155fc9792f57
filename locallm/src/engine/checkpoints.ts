import { mostCheckpoints } from "../wire/inference/load.ts";
import type { Allocation } from "./allocation.ts";
import type { MemoryKind } from "./context.ts";

/**
 * What cannot be cut of the memory of a sequence's first tokens: recurrent states, and the caches of layers with a
 * sliding window. With it, a slot can go back to these tokens.
 */
export interface Checkpoint {
  readonly tokens: number;
  readonly bytes: Uint8Array;
}

/** How many checkpoints a slot keeps at most, and the size of one. */
export interface CheckpointNeeds {
  readonly perSlot: number;
  readonly bytes: number;
}

/**
 * The checkpoints of layers with a sliding window take no more memory than these layers save compared with cells for
 * the whole context, but there is at least one. There is none if they have cells for the whole context.
 */
export function checkpointNeeds(
  { hasState, slidingWindow }: MemoryKind,
  { slidingCells, slidingCellBytes, stateBytes }: Allocation,
  contextPerSequence: number,
): CheckpointNeeds {
  const savedCells = slidingCells === 0 ? 0 : contextPerSequence - slidingCells;
  const bytes = stateBytes + (savedCells > 0 ? slidingWindow * slidingCellBytes : 0);
  if (hasState) return { perSlot: mostCheckpoints, bytes };
  if (savedCells <= 0) return { perSlot: 0, bytes: 0 };
  const paidFor = Math.floor(savedCells / slidingWindow);
  return { perSlot: Math.min(Math.max(1, paidFor), mostCheckpoints), bytes };
}

/** The checkpoints of one slot, in ascending order. */
export class Checkpoints {
  readonly #most: number;
  #held: readonly Checkpoint[] = [];
  /** Buffers of dropped checkpoints. They are used again, because large ones would stay in memory as garbage. */
  #free: readonly ArrayBuffer[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get held(): readonly Checkpoint[] {
    return this.#held;
  }

  /** The last checkpoint of at most this many tokens. */
  upTo(tokens: number): Checkpoint | null {
    return this.#held.findLast((one) => one.tokens <= tokens) ?? null;
  }

  /**
   * The checkpoints to keep with a state: the last one, from which the conversation continues, and as many others as
   * do not exceed `bytes` together. The first one comes before the others, because other conversations may begin with
   * it.
   */
  within(bytes: number): readonly Checkpoint[] {
    const [last, ...others] = [...this.#held.slice(-1), ...this.#held.slice(0, -1)];
    if (last === undefined) return [];
    let left = bytes - last.bytes.length;
    const also = others.filter((one) => {
      if (one.bytes.length > left) return false;
      left -= one.bytes.length;
      return true;
    });
    return [...also, last];
  }

  /** Drops the checkpoints of more than this many tokens. */
  cut(tokens: number): void {
    this.#drop((one) => one.tokens > tokens);
  }

  /**
   * Adds a checkpoint with more tokens than all others. `fill` writes it, or returns false. If there would be too many,
   * the one that saves least is dropped: from the one before it, the fewest tokens have to be computed. Returns null if
   * there is no checkpoint, for example for lack of memory.
   */
  add(tokens: number, bytes: number, fill: (into: Uint8Array) => boolean): Checkpoint | null {
    if (this.#most === 0) return null;
    if (this.#held.length === this.#most) {
      const saves = this.#held.map((one, index) => one.tokens - (this.#held[index - 1]?.tokens ?? 0));
      const least = saves.indexOf(Math.min(...saves));
      this.#drop((_, index) => index === least);
    }
    const buffer = this.#free.find(({ byteLength }) => byteLength >= bytes) ?? newBuffer(bytes);
    if (buffer === null) return null;
    const added = { tokens, bytes: new Uint8Array(buffer, 0, bytes) };
    const isFilled = fill(added.bytes);
    if (isFilled) this.#held = [...this.#held, added];
    const free = [...this.#free.filter((other) => other !== buffer), ...(isFilled ? [] : [buffer])];
    this.#free = free.slice(Math.max(0, free.length - (this.#most - this.#held.length)));
    return isFilled ? added : null;
  }

  /** Like `add`, from another slot or from a kept state. */
  addCopy({ tokens, bytes }: Checkpoint): void {
    this.add(tokens, bytes.length, (into) => {
      into.set(bytes);
      return true;
    });
  }

  #drop(isDropped: (one: Checkpoint, index: number) => boolean): void {
    const dropped = this.#held.filter(isDropped);
    this.#held = this.#held.filter((one) => !dropped.includes(one));
    this.#free = [...this.#free, ...dropped.map(({ bytes }) => bytes.buffer as ArrayBuffer)];
  }
}

function newBuffer(bytes: number): ArrayBuffer | null {
  try {
    return new ArrayBuffer(bytes);
  } catch {
    return null;
  }
}
