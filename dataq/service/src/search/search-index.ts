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
  /** Running text. */
  readonly texts: readonly IndexText[];
  /** Exact terms with their prefix (`c:`, `k:`, …), for filters and look-ups; not scored. */
  readonly terms: readonly string[];
  /** YYYY-MM-DD; newer stands first among equal scores, and date ranges are read from it. */
  readonly date: string | null;
  /** What is given back: the record of the operation. */
  readonly body: object;
}

export interface IndexText {
  readonly text: string;
  /** How many times the frequency of a word counts, at least 1. */
  readonly weight: number;
  /** Indexed by words alone: pairs of characters would double the index. */
  readonly isLong?: true;
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

/** What must hold of a document. Leaves are terms. */
export type Query =
  | { readonly term: string }
  | { readonly all: readonly Query[] }
  | { readonly any: readonly Query[] }
  | { readonly atLeast: number; readonly of: readonly Query[] }
  | { readonly not: Query }
  /** Terms at these distances from each other. */
  | { readonly phrase: readonly { readonly term: string; readonly at: number }[] };

export interface Question {
  /** What a document must have. */
  readonly query: Query;
  /** What it should have; without it, whatever has the query is found, unranked. */
  readonly wanted?: Wanted;
  /** Inclusive, YYYY-MM-DD; a document without date is in no range. `none`: only documents without date. */
  readonly dates?: { readonly from?: string; readonly to?: string } | "none";
}

/**
 * What is asked in words. Documents with an exact term stand first, then those that have every concept of an
 * alternative, then those that have any of the words.
 */
export interface Wanted {
  readonly alternatives: readonly (readonly Concept[])[];
  /** Further wordings that find and rank, and that a document may lack. */
  readonly hints: readonly Wording[];
  /** Wordings that raise a document and find none. */
  readonly priors: readonly Wording[];
  /** Exact terms, each an answer by itself. */
  readonly exact: readonly string[];
}

/** One thing that is asked for, in the wordings that it may have. Of those that a document has, the best counts. */
export type Concept = readonly Wording[];

export interface Wording {
  readonly terms: readonly string[];
  /** Compared with 1 for the words of the question. */
  readonly weight: number;
  /** The weight is the score, whatever the frequency of the term and the length of the document. */
  readonly isFlat?: true;
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
  /** Exact. Where very many documents have all that is asked for, they alone count. */
  readonly total: number;
  /** How many of them have all that is asked for. */
  readonly complete: number;
  /** Concepts that no document has in any wording. */
  readonly unknown: ReadonlySet<Concept>;
  readonly index: IndexState;
}

export interface Hit {
  readonly body: StoredBody;
  readonly dataset: string;
  readonly score: number;
}
