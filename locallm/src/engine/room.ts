/**
 * Which cells of a cache the slots hold that share it. What a slot copies of another one are the same cells, and count
 * once. It follows the slots, because the library does not tell how many cells are in use.
 */
export class Room {
  /** How many cells may be used. */
  cells: number;
  /** For each slot, the numbers of its cells in their order. */
  readonly #held: readonly number[][];
  /** For each number, how many slots hold it. */
  readonly #holders: number[] = [];
  /** Numbers that no slot holds. */
  readonly #unused: number[] = [];
  /** For each number, in which call of `fitting` it was last counted. */
  readonly #counted: number[] = [];
  #counts = 0;

  constructor(cells: number, slots: number) {
    this.cells = cells;
    this.#held = Array.from({ length: slots }, () => []);
  }

  get free(): number {
    return this.cells - this.#holders.length + this.#unused.length;
  }

  /**
   * Of slots that need further cells, how many of the first ones have room for them if no other slot holds anything. The
   * first one always has.
   */
  fitting(slots: readonly { readonly index: number; readonly needs: number }[]): number {
    this.#counts++;
    let taken = 0;
    for (const [at, { index, needs }] of slots.entries()) {
      taken += needs;
      for (const cell of this.#held[index]!) {
        if (this.#counted[cell] === this.#counts) continue;
        this.#counted[cell] = this.#counts;
        taken++;
      }
      if (at > 0 && taken > this.cells) return at;
    }
    return slots.length;
  }

  /** Whether another slot holds one of a slot's cells after its first `from`. */
  isShared(slot: number, from: number): boolean {
    return this.#held[slot]!.some((cell, index) => index >= from && this.#holders[cell]! > 1);
  }

  /** The slot holds `count` more cells. */
  grow(slot: number, count: number): void {
    for (let added = 0; added < count; added++) {
      const cell = this.#unused.pop() ?? this.#holders.length;
      this.#holders[cell] = 1;
      this.#held[slot]!.push(cell);
    }
  }

  /** The slot holds only its first `cells` cells. */
  cut(slot: number, cells: number): void {
    this.remove(slot, cells, this.#held[slot]!.length - cells);
  }

  /** The slot loses `count` cells after its first `from`. */
  remove(slot: number, from: number, count: number): void {
    if (count <= 0) return;
    for (const cell of this.#held[slot]!.splice(from, count))
      if (--this.#holders[cell]! === 0) this.#unused.push(cell);
  }

  /** The slot holds nothing but the first `count` cells of another slot. */
  share(from: number, to: number, count: number): void {
    const cells = this.#held[from]!.slice(0, count);
    for (const cell of cells) this.#holders[cell]!++;
    this.cut(to, 0);
    this.#held[to]!.push(...cells);
  }
}
