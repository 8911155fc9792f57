import { BlockWriter } from "../blocks/codec.ts";
import { PlaceWriter } from "../blocks/places.ts";
import { type Part, sizeFields, termEnd } from "./part-builder.ts";

/** Joins parts to one segment, in their order: a block for each term, lengths and dates. */
export class SegmentBuilder {
  readonly #termIds = new Map<string, number>();
  readonly #terms: string[] = [];
  readonly #blocks: BlockWriter[] = [];
  readonly #places: (PlaceWriter | undefined)[] = [];
  readonly #lengths: number[] = [];
  readonly #dates: number[] = [];

  add(part: Part): void {
    const base = this.#lengths.length;
    const { sizes, bytes } = part;
    let from = 0;
    const terms = sizes.length === 0 ? [] : part.terms.split(termEnd);
    for (const [at, term] of terms.entries()) {
      const size = (field: number) => sizes[at * sizeFields + field] as number;
      const id = this.#idOfTerm(term);
      const end = from + size(2);
      (this.#blocks[id] as BlockWriter).append(bytes.subarray(from, end), size(0), base, size(1));
      from = end;
      if (size(3) === -1) continue;
      this.#places[id] ??= new PlaceWriter();
      this.#places[id].append(bytes.subarray(from, from + size(3)));
      from += size(3);
    }
    for (const length of part.lengths) this.#lengths.push(length);
    for (const date of part.dates) this.#dates.push(date);
  }

  finish(): Segment {
    return {
      documents: this.#lengths.length,
      tokens: this.#lengths.reduce((sum, length) => sum + length, 0),
      lengths: Uint32Array.from(this.#lengths),
      dates: Int32Array.from(this.#dates),
      terms: this.#terms,
      blocks: this.#blocks,
      places: this.#places,
    };
  }

  #idOfTerm(term: string): number {
    const known = this.#termIds.get(term);
    if (known !== undefined) return known;
    const id = this.#terms.length;
    this.#termIds.set(term, id);
    this.#terms.push(term);
    this.#blocks.push(new BlockWriter());
    return id;
  }
}

export interface Segment {
  readonly documents: number;
  readonly tokens: number;
  readonly lengths: Uint32Array;
  readonly dates: Int32Array;
  readonly terms: readonly string[];
  readonly blocks: readonly BlockWriter[];
  /** Positions of each term, for phrases; none for exact terms. */
  readonly places: readonly (PlaceWriter | undefined)[];
}
