import type { BitSet } from "./bitset.ts";

/** A segment in memory: everything except postings and bodies. */
export interface OpenSegment {
  readonly id: number;
  readonly dataset: string;
  readonly documents: number;
  /** The length normalisation of BM25; see `normsOf`. */
  readonly norms: Float32Array;
  readonly dates: Int32Array;
  /** Whether every document has a date. */
  readonly isDated: boolean;
  readonly dead: BitSet | null;
}

export interface OpenSnapshot {
  readonly id: number;
  readonly corpus: string;
  readonly size: number;
  readonly refreshedAt: Date;
  readonly nextRefreshAt: Date | null;
  readonly segments: readonly OpenSegment[];
  /** Version of the analyser that split the documents. */
  readonly analysis: string;
}
