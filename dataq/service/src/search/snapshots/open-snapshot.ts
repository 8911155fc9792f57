import { chinaInstant, type IndexState } from "@dataq/contract";
import { dateOf } from "../date-number.ts";
import type { Contents, DatasetContents } from "../search-index.ts";
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

/** The segments of a snapshot that a question reads. */
export interface ReadSnapshot {
  readonly snapshot: OpenSnapshot;
  readonly segments: readonly OpenSegment[];
}

/** The snapshot without one of its data sets. */
export function readOf(snapshot: OpenSnapshot, without: string | undefined): ReadSnapshot {
  const { segments } = snapshot;
  if (without === undefined) return { snapshot, segments };
  return { snapshot, segments: segments.filter(({ dataset }) => dataset !== without) };
}

/** The state of a snapshot, of which these segments are read. */
export function stateOf(
  snapshot: OpenSnapshot,
  { segments }: Pick<ReadSnapshot, "segments"> = snapshot,
): IndexState {
  return {
    snapshot: String(snapshot.id),
    refreshed_at: chinaInstant(snapshot.refreshedAt),
    next_refresh_at: snapshot.nextRefreshAt === null ? null : chinaInstant(snapshot.nextRefreshAt),
    size: segments === snapshot.segments ? snapshot.size : livingOf(segments),
  };
}

/** What a snapshot serves, by data set. */
export function contentsOf({ segments }: OpenSnapshot): Contents {
  const contents = new Map<string, DatasetContents>();
  for (const segment of segments) {
    const before = contents.get(segment.dataset);
    const { dates, dead } = segment;
    let oldest = 0;
    let newest = 0;
    for (let ordinal = 0; ordinal < dates.length; ordinal++) {
      const date = dates[ordinal] as number;
      if (date === 0 || dead?.has(ordinal)) continue;
      if (date > newest) newest = date;
      if (date < oldest || oldest === 0) oldest = date;
    }
    const days = [before?.oldestDay, before?.newestDay, dateOf(oldest), dateOf(newest)]
      .flatMap((day) => day ?? [])
      .sort();
    contents.set(segment.dataset, {
      documents: (before?.documents ?? 0) + livingOf([segment]),
      hasUndated: before?.hasUndated === true || !segment.isDated,
      oldestDay: days[0] ?? null,
      newestDay: days.at(-1) ?? null,
    });
  }
  return contents;
}

function livingOf(segments: readonly OpenSegment[]): number {
  return segments.reduce((sum, { documents, dead }) => sum + documents - (dead?.count() ?? 0), 0);
}
