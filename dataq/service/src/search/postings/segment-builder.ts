import { zstdCompressSync } from "node:zlib";
import { type Analyser, runs } from "../analysis/analyser.ts";
import type { IndexDocument } from "../search-index.ts";
import { BlockWriter } from "./codec.ts";

/** Collects documents into one segment: a block for each term, lengths and dates, and the bodies as they come. */
export class SegmentBuilder {
  readonly #analyser: Analyser;
  readonly #termIds = new Map<string, number>();
  readonly #terms: string[] = [];
  readonly #blocks: BlockWriter[] = [];
  /** Frequencies in the document at hand, by term id; zero between documents. */
  #counts = new Uint16Array(1 << 12);
  /** Term ids of runs seen before: judgments repeat their phrases, and cutting is the dearest step. */
  #knownRuns = new Map<string, Uint32Array>();
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
    for (const { text, weight } of document.texts) {
      for (const run of runs(text)) {
        const ids = this.#idsOfRun(run);
        length += ids.length;
        for (const id of ids) {
          const before = this.#counts[id] as number;
          if (before === 0) touched.push(id);
          if (before < 0xff00) this.#counts[id] = before + weight;
        }
      }
    }
    for (const id of touched) {
      (this.#blocks[id] as BlockWriter).add(ordinal, this.#counts[id] as number);
      this.#counts[id] = 0;
    }
    for (const term of new Set(document.terms)) {
      (this.#blocks[this.#idOfTerm(term)] as BlockWriter).add(ordinal, 1);
    }
    this.#lengths.push(length);
    this.#tokens += length;
    this.#dates.push(dateNumber(document.date));
    return compressBody(document.body);
  }

  finish(): Segment {
    return {
      documents: this.#lengths.length,
      tokens: this.#tokens,
      lengths: Uint32Array.from(this.#lengths),
      dates: Int32Array.from(this.#dates),
      terms: this.#terms,
      blocks: this.#blocks,
    };
  }

  #idsOfRun(run: string): Uint32Array {
    const known = this.#knownRuns.get(run);
    if (known !== undefined) return known;
    const ids = Uint32Array.from(this.#analyser.runTerms(run), (term) => this.#idOfTerm(term));
    if (this.#knownRuns.size >= mostKnownRuns) this.#knownRuns = new Map();
    this.#knownRuns.set(run, ids);
    return ids;
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
  /** As numbers, 20240131; 0 for none. */
  readonly dates: Int32Array;
  readonly terms: readonly string[];
  readonly blocks: readonly BlockWriter[];
}

const mostKnownRuns = 300_000;

function compressBody(body: object): Uint8Array {
  return zstdCompressSync(JSON.stringify(body));
}

/** YYYY-MM-DD as a number that sorts like it; 0 for none. */
export function dateNumber(date: string | null): number {
  return date === null ? 0 : Number(date.replaceAll("-", ""));
}
