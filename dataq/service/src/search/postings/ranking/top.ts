/** A match and the values that rank it. */
export interface Ranked {
  readonly score: number;
  readonly date: number;
  /**
   * Position of the segment in the snapshot, then of the document in the segment. They make the order total.
   */
  readonly segment: number;
  readonly ordinal: number;
}

/** Keeps the best `size` matches: a heap with the worst on top. */
export class Top {
  readonly size: number;
  readonly #heap: Ranked[] = [];

  constructor(size: number) {
    this.size = size;
  }

  offer(score: number, date: number, segment: number, ordinal: number): void {
    const heap = this.#heap;
    if (heap.length === this.size) {
      const worst = heap[0];
      if (
        worst === undefined ||
        compare(worst.score, worst.date, worst.segment, worst.ordinal, score, date, segment, ordinal) < 0
      ) {
        return;
      }
      heap[0] = { score, date, segment, ordinal };
      this.#sink();
      return;
    }
    heap.push({ score, date, segment, ordinal });
    this.#rise();
  }

  /**
   * Adds all matches of a segment. Most are skipped after one or two comparisons, because they rank behind the worst one
   * kept. A segment that ranks last follows the others at equal scores, whatever its dates. Without scores, all are 0.
   */
  offerAll(
    scores: Float64Array | undefined,
    dates: Int32Array,
    segment: number,
    ordinals: Uint32Array,
    isLast = false,
  ): void {
    const dateShift = isLast ? beforeAllDates : 0;
    let least = this.leastScore;
    let oldest = this.#oldestDate();
    for (let i = 0; i < ordinals.length; i++) {
      const score = scores === undefined ? 0 : (scores[i] as number);
      if (score < least) continue;
      const ordinal = ordinals[i] as number;
      const date = (dates[ordinal] as number) + dateShift;
      if (score === least && date < oldest) continue;
      this.offer(score, date, segment, ordinal);
      least = this.leastScore;
      oldest = this.#oldestDate();
    }
  }

  /** A document with a lower score is not kept. */
  get leastScore(): number {
    return this.#heap.length < this.size ? Number.NEGATIVE_INFINITY : (this.#heap[0]?.score ?? Infinity);
  }

  /** A document with the least score and an older date is not kept. */
  #oldestDate(): number {
    return this.#heap.length < this.size ? Number.NEGATIVE_INFINITY : (this.#heap[0]?.date ?? Infinity);
  }

  /** Best first. */
  ranked(): Ranked[] {
    return [...this.#heap].sort(order);
  }

  #rise(): void {
    const heap = this.#heap;
    let at = heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (order(heap[parent] as Ranked, heap[at] as Ranked) >= 0) return;
      swap(heap, parent, at);
      at = parent;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && order(heap[child] as Ranked, heap[worst] as Ranked) > 0) worst = child;
      }
      if (worst === at) return;
      swap(heap, worst, at);
      at = worst;
    }
  }
}

/** Dates are numbers such as 20240131. */
const beforeAllDates = -100_000_000;

/** Negative if `a` ranks before `b`: higher score, newer date, earlier position. */
function order(a: Ranked, b: Ranked): number {
  return compare(a.score, a.date, a.segment, a.ordinal, b.score, b.date, b.segment, b.ordinal);
}

function compare(
  score: number,
  date: number,
  segment: number,
  ordinal: number,
  otherScore: number,
  otherDate: number,
  otherSegment: number,
  otherOrdinal: number,
): number {
  return otherScore - score || otherDate - date || segment - otherSegment || ordinal - otherOrdinal;
}

function swap(heap: Ranked[], a: number, b: number): void {
  const held = heap[a] as Ranked;
  heap[a] = heap[b] as Ranked;
  heap[b] = held;
}
