import type { IndexState } from "@dataq/contract";
import type { ClientBase } from "pg";
import type { StoredBody } from "./stored-body.ts";

/**
 * Finds records by words and exact terms. Two methods, so that another engine can stand behind them; the one we
 * have keeps posting blocks in PostgreSQL (`postings/`).
 */
export interface SearchIndex {
  /** Builds what `documents` holds beside what is being served and switches to it in one transaction. */
  refresh(
    corpus: string,
    documents: AsyncIterable<IndexDocument>,
    options: RefreshOptions,
  ): Promise<RefreshReport>;
  /** Undefined when nothing was ever put into the corpus. */
  search(corpus: string, question: Question, page: SearchPage): Promise<Found | undefined>;
}

/** A record as the index sees it. */
export interface IndexDocument {
  readonly id: string;
  /** Running text. A word's frequency counts `weight` times, at least 1. */
  readonly texts: readonly { readonly text: string; readonly weight: number }[];
  /** Exact terms with their prefix (`c:`, `k:`, …), for filters and look-ups; not scored. */
  readonly terms: readonly string[];
  /** YYYY-MM-DD; newer stands first among equal scores, and date ranges are read from it. */
  readonly date: string | null;
  /** What is given back: the record of the operation. */
  readonly body: object;
}

/** Makes a document of a record that a corpus keeps. */
export type MakeDocument = (record: never) => IndexDocument;

export interface RefreshOptions {
  /** Documents of one origin; a refresh replaces those of the same name. */
  readonly dataset: string;
  /** `replace`: the dataset is these documents. `update`: these documents replace those with the same id. */
  readonly mode: "replace" | "update";
  /** Generated documents that fill the corpus up: the last of them make way for others with this switch. */
  readonly fill?: Fill;
  /** Names the documents exactly: a refresh that was cut off goes on where it stopped when it comes again. */
  readonly resumeKey?: string;
  readonly signal?: AbortSignal;
  readonly progress?: (documents: number) => void;
  /** Runs in the transaction of the switch: what it writes is there exactly when the switch is; what it throws undoes it. */
  readonly atSwitch?: (change: DatasetChange) => Promise<void>;
}

/** What a switch does to a dataset. */
export interface DatasetChange {
  /** The connection of the transaction. */
  readonly client: ClientBase;
  /** The snapshot that served until now. */
  readonly previous: number | null;
  /** Documents of the dataset that served until now, and that serve from now on. */
  readonly before: number;
  readonly after: number;
  readonly added: readonly number[];
}

export interface Fill {
  readonly dataset: string;
  /** Size of the corpus that it is filled up to. */
  readonly upTo: number;
}

export interface RefreshReport {
  readonly snapshot: string;
  /** Documents served after the switch. */
  readonly size: number;
}

/** What must hold of a document. Leaves are terms; scored leaves add to the rank. */
export type Query =
  | { readonly term: string; readonly scored: boolean }
  | { readonly all: readonly Query[] }
  | { readonly any: readonly Query[] }
  | { readonly atLeast: number; readonly of: readonly Query[] }
  | { readonly not: Query }
  /** Terms at these distances from each other; all are scored. */
  | { readonly phrase: readonly { readonly term: string; readonly at: number }[] };

export interface Question {
  readonly query: Query;
  /** Inclusive, YYYY-MM-DD; a document without date is in no range. */
  readonly dates?: { readonly from?: string; readonly to?: string };
}

export interface SearchPage {
  readonly offset: number;
  readonly limit: number;
  /** State to read from; without it, the one being served. */
  readonly snapshot?: string;
  readonly datasets?: {
    /** Documents of this dataset rank below others of equal score. */
    readonly last?: string;
    /** Documents of this dataset are left out. */
    readonly without?: string;
  };
}

export interface Found {
  readonly hits: readonly Hit[];
  /** Exact. */
  readonly total: number;
  readonly index: IndexState;
}

export interface Hit {
  readonly body: StoredBody;
  readonly dataset: string;
  readonly score: number;
}
