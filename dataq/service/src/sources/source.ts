import type { IndexState, Params, PartHeld, Warning } from "@dataq/contract";
import type { Coverage, dataKinds } from "@dataq/contract/wire";
import type { WrittenRecord } from "./written-record.ts";

/** Answers one operation. It throws a `Failure` with a code; any other error is a bug. */
export interface Source {
  /** Changes when the data behind the answers changes. Part of the cache key. */
  version(sandbox: boolean): Promise<string>;
  run(params: Params, page: Page, context: SourceContext): Promise<Answer>;
  /** How the parameters are understood, so that questions that mean the same share an answer in the cache. */
  normalised?(params: Params, sandbox: boolean, now: Date): Promise<Params> | Params;
  /** Rejects values that only the data can judge, before the call is priced. */
  check?(params: Params, sandbox: boolean): Promise<void>;
  /**
   * The number of units in the call that the price is for; see `pricedPer` of the operation. The answer depends
   * on the same data as `run`.
   */
  count?(params: Params, sandbox: boolean): Promise<number>;
  /**
   * Where an answer for a live key would come from: for a call, which waits for data that a first start is still
   * building, or as of now. A source without this has real data.
   */
  answeredBy?(when: "call" | "now"): Promise<DataKind>;
  /** What the imported records cover; null if there are none. Does not wait for data that is still being built. */
  coverage?(): Promise<Coverage | null>;
  /** Every value that samples answer. */
  readonly samples?: readonly Params[];
}

export type DataKind = (typeof dataKinds)[number];

/** Which part of a list is wanted. `snapshot` selects the state of the index that an earlier page returned. */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
  readonly snapshot?: string;
  /** Number of records to skip, instead of a page. */
  readonly offset?: number;
}

/** Number of records before the page. */
export function offsetOf(page: Page): number {
  return page.offset ?? (page.page - 1) * page.pageSize;
}

export interface SourceContext {
  /** Aborted when the client disconnects or the call times out. */
  readonly signal: AbortSignal;
  readonly now: Date;
  /** True for `dq_test_` keys: samples only. */
  readonly sandbox: boolean;
  /** Until when the caller waits, in milliseconds since 1970. */
  readonly until?: number;
  /** What the caller pays, in fen. */
  readonly priceFen?: number;
  /** The call that the answer is for; requests to vendors are recorded with it. */
  readonly requestId?: string;
  /** True if samples are switched off: generated records among real ones are left out. */
  readonly withoutGenerated?: boolean;
}

/** What a source found. `records` for list operations, `record` for single ones. */
export interface Answer {
  /**
   * `found`: data is there. `empty`: a list with nothing in it, which is an answer. `not_found`: a single record
   * that does not exist (404, free). `insufficient_elements`: the question lacks what the source needs (free).
   * `past_end`: a page after the last one (free).
   */
  readonly outcome: "found" | "empty" | "not_found" | "insufficient_elements" | "past_end";
  readonly records?: readonly (object | WrittenRecord)[];
  readonly record?: object;
  readonly total: number;
  readonly totalRelation: "eq" | "gte";
  readonly warnings: readonly Warning[];
  readonly summary?: object;
  readonly index?: IndexState;
  readonly relaxed?: boolean;
  /** Every record is a generated sample: free. */
  readonly sample?: true;
  /** The answer is empty because this service does not hold the data: free. A warning names the data. */
  readonly notHeld?: true;
  /** A part of the question is about data that is not held. */
  readonly isPart?: true;
  /** What is held, if the question reaches beyond it. */
  readonly coverage?: PartHeld;
  /** The version that the answer was made from, if it is not the one that `Source.version` gave. */
  readonly version?: string;
  /** Overrides the operation's cache time. Seconds. */
  readonly cacheS?: number;
}

/** The sources of this service by operation; undefined if there is none (501). */
export interface Sources {
  find(operation: string): Source | undefined;
}
