import { type Analyser, runGap, runs } from "../analysis/analyser.ts";
import type { IndexDocument } from "../search-index.ts";
import { packBody } from "./bodies.ts";
import { BlockWriter } from "./codec.ts";
import { PlaceWriter } from "./places.ts";

/** Collects documents into one segment: a block for each term, lengths and dates, and the bodies in order. */
export class SegmentBuilder {
  readonly #analyser: Analyser;
  readonly #termIds = new Map<string, number>();
  readonly #terms: string[] = [];
  readonly #blocks: BlockWriter[] = [];
  readonly #places: (PlaceWriter | undefined)[] = [];
  /** Frequencies in the current document, by term ID; zero between documents. */
  #counts = new Uint16Array(1 << 12);
  /**
   * Term IDs and positions in turn, for runs seen before: judgments repeat phrases, and splitting is the most
   * expensive step.
   */
  #knownRuns = new Map<string, Uint32Array>();
  #knownRunsWithPairs = new Map<string, Uint32Array>();
  readonly #lengths: number[] = [];
  readonly #dates: number[] = [];
  #tokens = 0;

  constructor(analyser: Analyser) {
    this.#analyser = analyser;
  }

  get documents(): number {
    return this.#lengths.length;
  }

  /** Adds a document and returns its compressed body. */
  add(document: IndexDocument): Uint8Array {
    const ordinal = this.#lengths.length;
    const touched: number[] = [];
    let length = 0;
    let begin = 0;
    for (const { text, weight, isLong = false } of document.texts) {
      for (const run of runs(text)) {
        const places = this.#placesOfRun(run, !isLong);
        length += places.length / 2;
        for (let i = 0; i < places.length; i += 2) {
          const id = places[i] as number;
          const before = this.#counts[id] as number;
          if (before === 0) touched.push(id);
          if (before < 0xff00) this.#counts[id] = before + weight;
          (this.#places[id] as PlaceWriter).add(begin + (places[i + 1] as number));
        }
        begin += run.length + runGap;
      }
      begin += textGap;
    }
    for (const id of touched) {
      (this.#places[id] as PlaceWriter).endDocument();
      (this.#blocks[id] as BlockWriter).add(ordinal, this.#counts[id] as number);
      this.#counts[id] = 0;
    }
    for (const term of new Set(document.terms)) {
      (this.#blocks[this.#idOfTerm(term)] as BlockWriter).add(ordinal, 1);
    }
    this.#lengths.push(length);
    this.#tokens += length;
    this.#dates.push(dateNumber(document.date));
    return packBody(document.body);
  }

  finish(): Segment {
    return {
      documents: this.#lengths.length,
      tokens: this.#tokens,
      lengths: Uint32Array.from(this.#lengths),
      dates: Int32Array.from(this.#dates),
      terms: this.#terms,
      blocks: this.#blocks,
      places: this.#places,
    };
  }

  #placesOfRun(run: string, withPairs: boolean): Uint32Array {
    const knownRuns = withPairs ? this.#knownRunsWithPairs : this.#knownRuns;
    const known = knownRuns.get(run);
    if (known !== undefined) return known;
    const found = this.#analyser.runPlaces(run, { withPairs });
    const places = new Uint32Array(2 * found.length);
    for (const [i, { term, at }] of found.entries()) {
      const id = this.#idOfTerm(term);
      this.#places[id] ??= new PlaceWriter();
      places[2 * i] = id;
      places[2 * i + 1] = at;
    }
    if (knownRuns.size >= mostKnownRuns) knownRuns.clear();
    knownRuns.set(run, places);
    return places;
  }

  #idOfTerm(term: string): number {
    const known = this.#termIds.get(term);
    if (known !== undefined) return known;
    const id = this.#terms.length;
    this.#termIds.set(term, id);
    this.#terms.push(term);
    this.#blocks.push(new BlockWriter());
    if (id >= this.#counts.length) {
      const bigger = new Uint16Array(this.#counts.length * 2);
      bigger.set(this.#counts);
      this.#counts = bigger;
    }
    return id;
  }
}

export interface Segment {
  readonly documents: number;
  readonly tokens: number;
  readonly lengths: Uint32Array;
  /** The dates as numbers such as 20240131; 0 for none. */
  readonly dates: Int32Array;
  readonly terms: readonly string[];
  readonly blocks: readonly BlockWriter[];
  /** Positions of each term, for phrases; none for exact terms. */
  readonly places: readonly (PlaceWriter | undefined)[];
}

/** A phrase never spans two texts of a document. */
const textGap = 64;

const mostKnownRuns = 300_000;

/** YYYY-MM-DD as a number that sorts like it; 0 for none. */
export function dateNumber(date: string | null): number {
  return date === null ? 0 : Number(date.replaceAll("-", ""));
}
