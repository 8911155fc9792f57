import { idfOf, normOf, normPerLengthOf, type Statistics, worthOf } from "../../bm25.ts";
import type { Wanted, Wording } from "../../search-index.ts";
import type { OpenSegment } from "../../snapshots/open-snapshot.ts";
import { shareOf } from "../../wanted.ts";
import type { FrequentPostings, Postings, RarePostings } from "../blocks/codec.ts";
import { type DocumentSet, ordinalsOf, type Take, wordsOf } from "../blocks/sets.ts";
import { lifts } from "./scores.ts";
import type { Scratch } from "./scratch.ts";

/**
 * For each document of a segment a number that its score does not exceed, so that only the few documents that can be on
 * the page are scored. Computing the bounds takes a tenth of the time of the scores: they are sums of `impacts`, four
 * documents at a time, in fixed point.
 *
 * Two documents share a word, with 16 bits each. The words of a group of four documents follow each other: the first has
 * documents 0 and 2, the second 1 and 3. A sum stays below 2^15, so that the highest bit is free for comparisons.
 */
export class Bounds {
  readonly #sums: Uint32Array;
  readonly #perUnit: number;
  /** What rounding may have taken from a bound, in units, and what no bound contains, in scores. */
  readonly #lostUnits: number;
  readonly #extra: number;

  constructor(sums: Uint32Array, perUnit: number, lostUnits: number, extra: number) {
    this.#sums = sums;
    this.#perUnit = perUnit;
    this.#lostUnits = lostUnits;
    this.#extra = extra;
  }

  /** The bound that every document with at least this score reaches. */
  unitsOf(score: number): number {
    const lowered = score - Math.abs(score) * roundingError - this.#extra;
    return Math.max(0, Math.floor(lowered / this.#perUnit) - this.#lostUnits);
  }

  /** A bound that at least `count` of the documents reach, and not many more. There must be that many. */
  unitsOfBest(count: number, among: DocumentSet, take: Take): number {
    const halves = halvesOf(this.#sums);
    const steps = new Uint32Array(1 << (15 - stepBits));
    for (const ordinal of ordinalsOf(among, take)) steps[(halves[halfOf(ordinal)] as number) >>> stepBits]!++;
    let step = steps.length - 1;
    for (let left = count - (steps[step] as number); left > 0 && step > 0; ) left -= steps[--step] as number;
    return step << stepBits;
  }

  /** The documents among these whose bound is at least `from` and below `to`. */
  between(from: number, to: number, among: DocumentSet, scratch: Scratch): Uint32Array {
    const sums = this.#sums;
    const halves = halvesOf(sums);
    const { ordinals, bits } = among;
    const out = scratch.words("candidates", among.size);
    let length = 0;
    if (from >= to || from > mostUnits) return out.subarray(0, 0);
    if (bits === undefined) {
      for (let i = 0; i < ordinals.length; i++) {
        const bound = halves[halfOf(ordinals[i] as number)] as number;
        if (bound >= from && bound < to) out[length++] = ordinals[i] as number;
      }
      return out.subarray(0, length);
    }
    // Sets the highest bit of a half that is at least `from`.
    const raise = inBothHalves(highest - from);
    for (let i = 0; i < sums.length; i += 2) {
      const reaches =
        (((sums[i] as number) + raise) | ((sums[i + 1] as number) + raise)) & inBothHalves(highest);
      if (reaches === 0) continue;
      const first = 2 * i;
      const four = ((bits[first >>> 5] as number) >>> (first & 31)) & 15;
      for (let ordinal = first; ordinal < first + 4; ordinal++) {
        if (((four >>> (ordinal - first)) & 1) === 0) continue;
        const bound = halves[halfOf(ordinal)] as number;
        if (bound >= from && bound < to) out[length++] = ordinal;
      }
    }
    return out.subarray(0, length);
  }
}

/** Undefined if the question has too many words for fixed point. */
export function boundsOf(
  wanted: Wanted,
  segment: OpenSegment,
  postings: ReadonlyMap<string, Postings>,
  statistics: Statistics,
  scratch: Scratch,
): Bounds | undefined {
  const { documents, tokens, normPerLength } = segment;
  // Impacts are those of the segment alone. If the documents of the whole snapshot are longer on average, its own count
  // as shorter, and an impact grows by less than the ratio.
  const stretch = Math.max(1, normPerLengthOf(tokens, documents) / normPerLength);
  const termsOf = ({ terms, weight, isFlat }: Wording): Term[] =>
    terms.flatMap((term) => {
      const block = postings.get(term);
      if (block === undefined) return [];
      const most = isFlat
        ? shareOf(weight, terms.length, isFlat)
        : stretch * worthOf(shareOf(weight, terms.length, isFlat) * idfOf(term, statistics));
      return [{ block, most: Math.max(0, most), isFlat: isFlat === true }];
    });
  const concepts = wanted.alternatives
    .flat()
    .map((concept) => concept.map(termsOf).filter((terms) => terms.length > 0))
    .filter((wordings) => wordings.length > 0);
  const others = [...wanted.hints, ...wanted.priors].flatMap(termsOf);
  const sumOf = (terms: readonly Term[]) => terms.reduce((sum, { most }) => sum + most, 0);
  const most = concepts.reduce((sum, wordings) => sum + Math.max(...wordings.map(sumOf)), sumOf(others));
  const count = concepts.flat(2).length + others.length;
  if (count > mostTerms) return undefined;
  const perUnit = most === 0 ? 1 : most / sharedUnits;
  const filling = new Filling(segment, perUnit, scratch);
  for (const wordings of concepts) filling.addLargest(wordings);
  for (const term of others) filling.add(filling.sums, term);
  return new Bounds(filling.sums, perUnit, count, lifts.exact * wanted.exact.length);
}

interface Term {
  readonly block: Postings;
  /** More than any document's score for it. */
  readonly most: number;
  readonly isFlat: boolean;
}

/** Adds the units of terms to bounds. */
class Filling {
  readonly sums: Uint32Array;
  readonly #segment: OpenSegment;
  readonly #perUnit: number;
  readonly #scratch: Scratch;

  constructor(segment: OpenSegment, perUnit: number, scratch: Scratch) {
    this.#segment = segment;
    this.#perUnit = perUnit;
    this.#scratch = scratch;
    this.sums = this.#zeros("sums");
  }

  /** Adds the largest of the wordings. */
  addLargest([first, ...others]: readonly (readonly Term[])[]): void {
    const best = others.length === 0 ? this.sums : this.#zeros("best");
    for (const term of first ?? []) this.add(best, term);
    for (const terms of others) {
      const [term] = terms;
      if (terms.length === 1 && term?.block.ordinals !== undefined) this.#eachRare(term, best, Math.max);
      else if (terms.length === 1 && term !== undefined && !term.isFlat) {
        keepLargerImpacts(best, fours((term.block as FrequentPostings).impacts), this.#unitsOf(term));
      } else {
        const whole = this.#zeros("whole");
        for (const term of terms) this.add(whole, term);
        keepLarger(best, whole);
      }
    }
    if (best !== this.sums) addAll(this.sums, best);
  }

  add(sums: Uint32Array, term: Term): void {
    const { block, isFlat } = term;
    if (block.ordinals !== undefined) this.#eachRare(term, sums, (before, units) => before + units);
    else if (isFlat) addFlat(sums, fours(block.frequencies), Math.ceil(this.#unitsOf(term)));
    else addImpacts(sums, fours(block.impacts), this.#unitsOf(term));
  }

  #eachRare(
    { block, most, isFlat }: Term,
    sums: Uint32Array,
    change: (before: number, units: number) => number,
  ): void {
    const { lengths, normPerLength } = this.#segment;
    const { ordinals, frequencies } = block as RarePostings;
    const units = most / this.#perUnit;
    const halves = halvesOf(sums);
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i] as number;
      const frequency = frequencies[i] as number;
      const share = isFlat ? 1 : frequency / (frequency + normOf(lengths[ordinal] as number, normPerLength));
      const half = halfOf(ordinal);
      halves[half] = change(halves[half] as number, Math.ceil(units * share));
    }
  }

  #unitsOf({ most }: Term): number {
    return most / this.#perUnit;
  }

  /** Words for all documents, and for those that fill the last word of a bit set. */
  #zeros(name: string): Uint32Array {
    return this.#scratch.words(`bounds ${name}`, 16 * wordsOf(this.#segment.documents)).fill(0);
  }
}

function addImpacts(sums: Uint32Array, impacts: Uint32Array, units: number): void {
  const { factor, shift, mask } = productOf(units);
  for (let i = 0, at = 0; i < impacts.length; i++, at += 2) {
    const four = impacts[i] as number;
    sums[at] = (sums[at] as number) + ((Math.imul(four & evenBytes, factor) >>> shift) & mask);
    sums[at + 1] =
      (sums[at + 1] as number) + ((Math.imul((four >>> 8) & evenBytes, factor) >>> shift) & mask);
  }
}

function keepLargerImpacts(best: Uint32Array, impacts: Uint32Array, units: number): void {
  const { factor, shift, mask } = productOf(units);
  for (let i = 0, at = 0; i < impacts.length; i++, at += 2) {
    const four = impacts[i] as number;
    best[at] = larger(best[at] as number, (Math.imul(four & evenBytes, factor) >>> shift) & mask);
    best[at + 1] = larger(
      best[at + 1] as number,
      (Math.imul((four >>> 8) & evenBytes, factor) >>> shift) & mask,
    );
  }
}

/** How units * impact / 255 is computed for two documents at once: a product of bytes, and a shift. */
function productOf(units: number): {
  readonly factor: number;
  readonly shift: number;
  readonly mask: number;
} {
  const factorAt = (shift: number) => Math.ceil(((units * 256) / 255) * 2 ** (shift - 8));
  let shift = 8;
  while (shift > 1 && factorAt(shift) > 255) shift--;
  return { factor: factorAt(shift), shift, mask: inBothHalves((1 << (16 - shift)) - 1) };
}

function addFlat(sums: Uint32Array, frequencies: Uint32Array, units: number): void {
  for (let i = 0, at = 0; i < frequencies.length; i++, at += 2) {
    const four = frequencies[i] as number;
    // The highest bit of each byte that is not 0.
    const some = (((four & 0x7f7f_7f7f) + 0x7f7f_7f7f) | four) & 0x8080_8080;
    sums[at] = (sums[at] as number) + Math.imul((some >>> 7) & 0x0001_0001, units);
    sums[at + 1] = (sums[at + 1] as number) + Math.imul((some >>> 15) & 0x0001_0001, units);
  }
}

function addAll(sums: Uint32Array, more: Uint32Array): void {
  for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) + (more[i] as number);
}

function keepLarger(best: Uint32Array, other: Uint32Array): void {
  for (let i = 0; i < best.length; i++) best[i] = larger(best[i] as number, other[i] as number);
}

/** The larger one in each half. */
function larger(a: number, b: number): number {
  // 1 in each half in which `b` is at least `a`, then all bits of that half.
  const isLarger = (((b | 0x8000_8000) - a) >>> 15) & 0x0001_0001;
  const mask = Math.imul(isLarger, 0xffff);
  return (b & mask) | (a & ~mask);
}

/** Where the half of a document is in the sums. */
function halfOf(ordinal: number): number {
  return (ordinal & ~3) | ((ordinal & 1) << 1) | ((ordinal >>> 1) & 1);
}

/** Bytes by ordinal as words of four, with those after the last. A block begins at a whole word. */
function fours(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, (bytes.length + 3) >>> 2);
}

function halvesOf(words: Uint32Array): Uint16Array {
  return new Uint16Array(words.buffer, words.byteOffset, 2 * words.length);
}

function inBothHalves(half: number): number {
  return (half | (half << 16)) >>> 0;
}

const highest = 0x8000;
const mostUnits = 0x7fff;
const evenBytes = 0x00ff_00ff;
/** Leaves room for what rounding adds: less than a hundredth, and one for each term. */
const sharedUnits = 24_000;
const mostTerms = 2_000;
/** Sums in another order differ by less. */
const roundingError = 1e-9;
const stepBits = 7;
