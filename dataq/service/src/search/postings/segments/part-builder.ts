import { type Analyser, runGap, runs, textGap } from "../../analysis/analyser.ts";
import { dateNumber } from "../../date-number.ts";
import type { IndexDocument } from "../../search-index.ts";
import { packJson } from "../../snapshots/bodies.ts";
import { BlockWriter } from "../blocks/codec.ts";
import { PlaceWriter } from "../blocks/places.ts";

/** A document as a thread needs it: its body is JSON already, because a text is faster to hand over than an object. */
export interface PlainDocument extends Pick<IndexDocument, "texts" | "terms" | "date"> {
  readonly json: string;
}

/** Documents that follow each other in a segment, in arrays that threads can hand over. Ordinals begin at 0. */
export interface Part {
  readonly documents: number;
  readonly lengths: Uint32Array<ArrayBuffer>;
  /** The dates as numbers such as 20240131; 0 for none. */
  readonly dates: Int32Array<ArrayBuffer>;
  /** The terms, each but the last followed by `termEnd`. */
  readonly terms: string;
  /** For each term `sizeFields` numbers: documents, last ordinal, bytes of its block, bytes of its positions or -1. */
  readonly sizes: Int32Array<ArrayBuffer>;
  /** The block and the positions of each term. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The compressed bodies, and where each of them ends. */
  readonly bodies: Uint8Array<ArrayBuffer>;
  readonly bodyEnds: Uint32Array<ArrayBuffer>;
}

export const sizeFields = 4;
/** PostgreSQL stores no text with this character, so no term contains it. */
export const termEnd = "\0";

/** Cuts documents into terms and collects them into parts. */
export class PartBuilder {
  readonly #analyser: Analyser;
  readonly #termIds = new Map<string, number>();
  readonly #terms: string[] = [];
  /** Of the terms of this part. */
  readonly #blocks: (BlockWriter | undefined)[] = [];
  readonly #places: (PlaceWriter | undefined)[] = [];
  #used: number[] = [];
  /** Frequencies in the current document, by term ID; zero between documents. */
  #counts = new Uint16Array(1 << 12);
  /**
   * Term IDs and positions in turn, for runs seen before: judgments repeat phrases, and splitting is the most
   * expensive step.
   */
  readonly #knownRuns = new Map<string, Uint32Array>();
  readonly #knownRunsWithPairs = new Map<string, Uint32Array>();
  #lengths: number[] = [];
  #dates: number[] = [];
  #bodies: Uint8Array[] = [];

  constructor(analyser: Analyser) {
    this.#analyser = analyser;
  }

  build(documents: readonly PlainDocument[]): Part {
    if (this.#terms.length > mostKnownTerms) this.#forget();
    for (const document of documents) this.#add(document);
    return this.#finish();
  }

  #add(document: PlainDocument): void {
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
          this.#places[id] ??= new PlaceWriter();
          this.#places[id].add(begin + (places[i + 1] as number));
        }
        begin += run.length + runGap;
      }
      begin += textGap;
    }
    for (const id of touched) {
      (this.#places[id] as PlaceWriter).endDocument();
      this.#block(id).add(ordinal, this.#counts[id] as number);
      this.#counts[id] = 0;
    }
    for (const term of new Set(document.terms)) this.#block(this.#idOfTerm(term)).add(ordinal, 1);
    this.#lengths.push(length);
    this.#dates.push(dateNumber(document.date));
    this.#bodies.push(packJson(document.json));
  }

  #finish(): Part {
    const used = this.#used;
    const sizes = new Int32Array(used.length * sizeFields);
    const pieces: Uint8Array[] = [];
    for (const [at, id] of used.entries()) {
      const block = this.#blocks[id] as BlockWriter;
      const places = this.#places[id]?.bytes();
      pieces.push(block.bytes());
      if (places !== undefined) pieces.push(places);
      sizes.set([block.documents, block.last, block.bytes().length, places?.length ?? -1], at * sizeFields);
      this.#blocks[id] = undefined;
      this.#places[id] = undefined;
    }
    let end = 0;
    const part: Part = {
      documents: this.#lengths.length,
      lengths: Uint32Array.from(this.#lengths),
      dates: Int32Array.from(this.#dates),
      terms: used.map((id) => this.#terms[id]).join(termEnd),
      sizes,
      bytes: joined(pieces),
      bodies: joined(this.#bodies),
      bodyEnds: Uint32Array.from(this.#bodies, ({ length }) => {
        end += length;
        return end;
      }),
    };
    this.#used = [];
    this.#lengths = [];
    this.#dates = [];
    this.#bodies = [];
    return part;
  }

  #block(id: number): BlockWriter {
    const known = this.#blocks[id];
    if (known !== undefined) return known;
    const block = new BlockWriter();
    this.#blocks[id] = block;
    this.#used.push(id);
    return block;
  }

  #placesOfRun(run: string, withPairs: boolean): Uint32Array {
    const knownRuns = withPairs ? this.#knownRunsWithPairs : this.#knownRuns;
    const known = knownRuns.get(run);
    if (known !== undefined) return known;
    const found = this.#analyser.runPlaces(run, { withPairs });
    const places = new Uint32Array(2 * found.length);
    for (const [i, { term, at }] of found.entries()) {
      places[2 * i] = this.#idOfTerm(term);
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
    if (id >= this.#counts.length) {
      const bigger = new Uint16Array(this.#counts.length * 2);
      bigger.set(this.#counts);
      this.#counts = bigger;
    }
    return id;
  }

  #forget(): void {
    this.#termIds.clear();
    this.#terms.length = 0;
    this.#blocks.length = 0;
    this.#places.length = 0;
    this.#knownRuns.clear();
    this.#knownRunsWithPairs.clear();
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const piece of pieces) {
    whole.set(piece, end);
    end += piece.length;
  }
  return whole;
}

const mostKnownRuns = 100_000;
const mostKnownTerms = 1_000_000;
