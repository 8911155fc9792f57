import type { Postings } from "./codec.ts";

/** Set algebra over ascending ordinals. Short-lived results are written to memory from `take`. */

/** Space for this many ordinals, with any content. */
export type Take = (length: number) => Uint32Array;

const fresh: Take = (length) => new Uint32Array(length);

export function intersect(a: Uint32Array, b: Uint32Array, take = fresh): Uint32Array {
  if (a.length > b.length) return intersect(b, a, take);
  const out = take(a.length);
  let length = 0;
  if (b.length > 16 * a.length) {
    let low = 0;
    for (const ordinal of a) {
      low = lowerBound(b, ordinal, low);
      if (low === b.length) break;
      if (b[low] === ordinal) out[length++] = ordinal;
    }
  } else {
    let j = 0;
    for (const ordinal of a) {
      while (j < b.length && (b[j] as number) < ordinal) j++;
      if (j === b.length) break;
      if (b[j] === ordinal) out[length++] = ordinal;
    }
  }
  return out.subarray(0, length);
}

/** Members of `a` whose value in `dense` is not 0. */
export function within(a: Uint32Array, dense: Uint8Array, take = fresh): Uint32Array {
  const out = take(a.length);
  let length = 0;
  for (let i = 0; i < a.length; i++) {
    const ordinal = a[i] as number;
    out[length] = ordinal;
    if (dense[ordinal] !== 0) length++;
  }
  return out.subarray(0, length);
}

/** A set in the form of a block. */
export type Members = Pick<Postings, "ordinals" | "dense">;

/** Sets, all of which must contain a document. */
export type Intersection = readonly Members[];

/** The intersection of the sets. There must be at least one. */
export function common(sets: Intersection, take = fresh): Uint32Array {
  const [smallest, ...others] = [...sets].sort((a, b) => a.ordinals.length - b.ordinals.length);
  return narrowed((smallest as Members).ordinals, others, take);
}

/** Members of `a` that are in all sets of at least one alternative. */
export function withAny(
  a: Uint32Array,
  alternatives: readonly Intersection[],
  limit: number,
  take = fresh,
): Uint32Array {
  const has = new Uint8Array(limit);
  const mark = (set: Uint32Array) => {
    for (let i = 0; i < set.length; i++) has[set[i] as number] = 1;
  };
  for (const alternative of alternatives) {
    const dense = alternative.length === 1 ? alternative[0]?.dense : undefined;
    if (dense !== undefined) {
      for (let i = 0; i < a.length; i++) {
        const ordinal = a[i] as number;
        if (dense[ordinal] !== 0) has[ordinal] = 1;
      }
    } else if (alternative.every(({ ordinals }) => ordinals.length > a.length))
      mark(narrowed(a, alternative, take));
    else mark(common(alternative, take));
  }
  return within(a, has, take);
}

function narrowed(a: Uint32Array, sets: Intersection, take: Take): Uint32Array {
  let set = a;
  for (const { ordinals, dense } of sets)
    set = dense === undefined ? intersect(set, ordinals, take) : within(set, dense, take);
  return set;
}

/**
 * Number of documents below `limit` in the union of the sets. If `among` is given, only its members count.
 */
export function countUnion(sets: readonly Uint32Array[], limit: number, among?: Uint32Array): number {
  const has = new Uint8Array(limit);
  let count = 0;
  for (const set of [...sets].sort((a, b) => b.length - a.length)) {
    if (count === limit) break;
    for (let i = 0; i < set.length; i++) {
      const ordinal = set[i] as number;
      count += 1 - (has[ordinal] as number);
      has[ordinal] = 1;
    }
  }
  if (among === undefined) return count;
  count = 0;
  for (let i = 0; i < among.length; i++) count += has[among[i] as number] as number;
  return count;
}

/** Members of at least `atLeast` of the sets. */
export function unite(sets: readonly Uint32Array[], limit: number, atLeast = 1): Uint32Array {
  if (sets.length === 1 && atLeast === 1) return sets[0] as Uint32Array;
  const times = new Uint8Array(limit);
  let count = 0;
  for (const set of sets) {
    for (const ordinal of set) {
      const before = times[ordinal] as number;
      if (before === 255) continue;
      times[ordinal] = before + 1;
      if (before + 1 === atLeast) count++;
    }
  }
  const out = new Uint32Array(count);
  let length = 0;
  for (let ordinal = 0; length < count; ordinal++) {
    if ((times[ordinal] as number) >= atLeast) out[length++] = ordinal;
  }
  return out;
}

export function subtract(a: Uint32Array, b: Uint32Array): Uint32Array {
  const out = new Uint32Array(a.length);
  let length = 0;
  let j = 0;
  for (const ordinal of a) {
    while (j < b.length && (b[j] as number) < ordinal) j++;
    if (b[j] !== ordinal) out[length++] = ordinal;
  }
  return out.subarray(0, length);
}

/** First index at or after `from` whose value is not below `ordinal`: galloping, then binary search. */
export function lowerBound(set: Uint32Array, ordinal: number, from: number): number {
  let step = 1;
  let low = from;
  while (low + step < set.length && (set[low + step] as number) < ordinal) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, set.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((set[middle] as number) < ordinal) low = middle + 1;
    else high = middle;
  }
  return low;
}
