/** Documents of a segment: a list of ordinals if there are few, a bit for each document if there are many. */
export type DocumentSet = Few | Many;

export interface Few {
  readonly size: number;
  /** Ascending. */
  readonly ordinals: Uint32Array;
  readonly bits: undefined;
}

export interface Many {
  readonly size: number;
  readonly ordinals: undefined;
  /** The lowest bit of the first word is ordinal 0. Bits after the last document are 0. */
  readonly bits: Uint32Array;
}

/** Space for this many numbers, with any content. */
export type Take = (length: number) => Uint32Array;

/** The operations below write their results to memory from `take`. `limit` is the number of documents of the segment. */
const fresh: Take = (length) => new Uint32Array(length);

export const noDocuments: Few = { size: 0, ordinals: new Uint32Array(0), bits: undefined };

export function few(ordinals: Uint32Array): Few {
  return { size: ordinals.length, ordinals, bits: undefined };
}

/** A set of these bits. Counts them. */
export function many(bits: Uint32Array): Many {
  let size = 0;
  for (let i = 0; i < bits.length; i++) size += bitsIn(bits[i] as number);
  return { size, ordinals: undefined, bits };
}

/** How many words the bits of a segment take. */
export function wordsOf(limit: number): number {
  return (limit + 31) >>> 5;
}

export function allDocuments(limit: number, take = fresh): Many {
  const bits = take(wordsOf(limit)).fill(0xffff_ffff);
  if (limit % 32 !== 0) bits[bits.length - 1] = (1 << (limit % 32)) - 1;
  return { size: limit, ordinals: undefined, bits };
}

export function hasOrdinal(set: DocumentSet, ordinal: number): boolean {
  if (set.bits !== undefined) return (((set.bits[ordinal >>> 5] as number) >>> (ordinal & 31)) & 1) === 1;
  return set.ordinals[lowerBound(set.ordinals, ordinal, 0)] === ordinal;
}

/** The members, ascending. */
export function ordinalsOf({ size, ordinals, bits }: DocumentSet, take = fresh): Uint32Array {
  if (bits === undefined) return ordinals;
  const out = take(size);
  let length = 0;
  for (let i = 0; i < bits.length; i++) {
    for (let word = bits[i] as number; word !== 0; word &= word - 1)
      out[length++] = (i << 5) | (31 - Math.clz32(word & -word));
  }
  return out;
}

/** Documents that are in all sets. There must be at least one set. */
export function intersection(sets: readonly DocumentSet[], take = fresh): DocumentSet {
  const [smallest, ...others] = sets.toSorted((a, b) => a.size - b.size) as [DocumentSet, ...DocumentSet[]];
  if (smallest.ordinals !== undefined) {
    let ordinals = smallest.ordinals;
    for (const other of others) {
      ordinals =
        other.bits === undefined
          ? intersectLists(ordinals, other.ordinals, take)
          : filterByBit(ordinals, other.bits, 1, take);
    }
    return few(ordinals);
  }
  // A larger set can be a list, because terms are lists up to another share than results.
  const lists = others.filter(({ bits }) => bits === undefined);
  if (lists.length > 0) return intersection([few(ordinalsOf(smallest, take)), ...others], take);
  if (others.length === 0) return smallest;
  const bits = take(smallest.bits.length);
  bits.set(smallest.bits);
  for (const other of others) {
    const more = other.bits as Uint32Array;
    for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] as number) & (more[i] as number);
  }
  return many(bits);
}

/** Documents that are in any of the sets. */
export function union(sets: readonly DocumentSet[], limit: number, take = fresh): DocumentSet {
  const filled = sets.filter(({ size }) => size > 0);
  if (filled.length < 2) return filled[0] ?? noDocuments;
  const out = take(wordsOf(limit)).fill(0);
  for (const { ordinals, bits } of filled) {
    if (bits !== undefined)
      for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) | (bits[i] as number);
    else addBits(out, ordinals);
  }
  return many(out);
}

/** Documents that are in at least this many of the sets. */
export function inAtLeast(
  atLeast: number,
  sets: readonly DocumentSet[],
  limit: number,
  take = fresh,
): DocumentSet {
  if (atLeast <= 1) return union(sets, limit, take);
  const times = new Uint8Array(limit);
  const out = take(wordsOf(limit)).fill(0);
  for (const set of sets) {
    for (const ordinal of ordinalsOf(set, take)) {
      const before = times[ordinal] as number;
      if (before < 255) times[ordinal] = before + 1;
      if (before + 1 === atLeast) out[ordinal >>> 5] = (out[ordinal >>> 5] as number) | (1 << (ordinal & 31));
    }
  }
  return many(out);
}

/** Members of `set` that are not in `other`. */
export function without(set: DocumentSet, other: DocumentSet, limit: number, take = fresh): DocumentSet {
  if (set.bits === undefined) {
    const bits = other.bits ?? bitsOf(other.ordinals, limit, take);
    return few(filterByBit(set.ordinals, bits, 0, take));
  }
  const bits = take(set.bits.length);
  bits.set(set.bits);
  if (other.bits === undefined)
    for (const ordinal of other.ordinals) bits[ordinal >>> 5]! &= ~(1 << (ordinal & 31));
  else for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] as number) & ~(other.bits[i] as number);
  return many(bits);
}

/** Members whose value in `values` is between these. */
export function between(
  set: DocumentSet,
  values: Int32Array,
  from: number,
  to: number,
  take = fresh,
): DocumentSet {
  if (set.bits === undefined) {
    const out = take(set.size);
    let length = 0;
    for (let i = 0; i < set.ordinals.length; i++) {
      const ordinal = set.ordinals[i] as number;
      const value = values[ordinal] as number;
      if (value >= from && value <= to) out[length++] = ordinal;
    }
    return few(out.subarray(0, length));
  }
  const bits = take(set.bits.length);
  for (let i = 0; i < bits.length; i++) {
    let kept = 0;
    for (let word = set.bits[i] as number; word !== 0; word &= word - 1) {
      const bit = 31 - Math.clz32(word & -word);
      const value = values[(i << 5) | bit] as number;
      if (value >= from && value <= to) kept |= 1 << bit;
    }
    bits[i] = kept;
  }
  return many(bits);
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

/** `a` is the shorter list. */
function intersectLists(a: Uint32Array, b: Uint32Array, take: Take): Uint32Array {
  const out = take(a.length);
  let length = 0;
  const isFar = b.length > 16 * a.length;
  let j = 0;
  for (let i = 0; i < a.length; i++) {
    const ordinal = a[i] as number;
    if (isFar) j = lowerBound(b, ordinal, j);
    else while (j < b.length && (b[j] as number) < ordinal) j++;
    if (j === b.length) break;
    if (b[j] === ordinal) out[length++] = ordinal;
  }
  return out.subarray(0, length);
}

function filterByBit(ordinals: Uint32Array, bits: Uint32Array, wanted: 0 | 1, take: Take): Uint32Array {
  const out = take(ordinals.length);
  let length = 0;
  for (let i = 0; i < ordinals.length; i++) {
    const ordinal = ordinals[i] as number;
    out[length] = ordinal;
    if ((((bits[ordinal >>> 5] as number) >>> (ordinal & 31)) & 1) === wanted) length++;
  }
  return out.subarray(0, length);
}

export function bitsOf(ordinals: Uint32Array, limit: number, take = fresh): Uint32Array {
  return addBits(take(wordsOf(limit)).fill(0), ordinals);
}

function addBits(bits: Uint32Array, ordinals: Uint32Array): Uint32Array {
  for (let i = 0; i < ordinals.length; i++) {
    const ordinal = ordinals[i] as number;
    bits[ordinal >>> 5] = (bits[ordinal >>> 5] as number) | (1 << (ordinal & 31));
  }
  return bits;
}

function bitsIn(word: number): number {
  let sums = word - ((word >>> 1) & 0x5555_5555);
  sums = (sums & 0x3333_3333) + ((sums >>> 2) & 0x3333_3333);
  return Math.imul((sums + (sums >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
