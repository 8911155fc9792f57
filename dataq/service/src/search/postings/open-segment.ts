import type { BitSet } from "./bitset.ts";

/** What never changes about a segment, read once for all its snapshots, in memory that threads share. */
export interface SegmentTable {
  readonly id: number;
  readonly dataset: string;
  readonly documents: number;
  readonly tokens: number;
  /** The number of terms of each document. */
  readonly lengths: Uint32Array;
  readonly dates: Int32Array;
  /** Whether every document has a date. */
  readonly isDated: boolean;
  /** The index of OpenSearch that has its words; null if its words are posting blocks. */
  readonly home: string | null;
}

/** A segment in memory: everything except postings and bodies. */
export interface OpenSegment extends SegmentTable {
  /** Of the snapshot: what a token adds to BM25's length normalisation. */
  readonly normPerLength: number;
  readonly dead: BitSet | null;
}

export interface OpenSnapshot {
  readonly id: number;
  readonly corpus: string;
  readonly size: number;
  readonly refreshedAt: Date;
  readonly nextRefreshAt: Date | null;
  readonly segments: readonly OpenSegment[];
  /** Whether another engine has the words of its documents. */
  readonly isElsewhere: boolean;
  /** Version of the analyser that split the documents. */
  readonly analysis: string;
}
