import type { BitSet } from "./bitset.ts";

/** A segment as the reader holds it in memory: everything but postings and bodies. */
export interface OpenSegment {
  readonly id: number;
  readonly dataset: string;
  readonly documents: number;
  /** What BM25 sets against the frequency of a term; see `normsOf`. */
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
  /** Version of the analyser that cut the documents. */
  readonly analysis: string;
}
