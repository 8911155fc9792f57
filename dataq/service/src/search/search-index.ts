import type { IndexState } from "@dataq/contract";
import type { ClientBase } from "pg";
import type { DocumentPlace, StoredBody } from "./stored-body.ts";

/**
 * Finds records by words and exact terms. Two methods, so that another engine can replace ours, which keeps posting
 * blocks in PostgreSQL (`postings/`).
 */
export interface SearchIndex {
  /** Indexes `documents` beside what is being served and switches to them in one transaction. */
  refresh(
    corpus: string,
    documents: AsyncIterable<IndexDocument>,
    options: RefreshOptions,
  ): Promise<RefreshReport>;
  /** Searches a corpus. Undefined if nothing was ever added to it. */
  search(corpus: string, question: Question, page: SearchPage): Promise<Found | undefined>;
}

/** A record as the index sees it. */
export interface IndexDocument {
  readonly id: string;
  /** Running text. */
  readonly texts: readonly IndexText[];
  /** Exact terms with their prefix (`c:`, `k:`, …), for filters and look-ups; not scored. */
  readonly terms: readonly string[];
  /** YYYY-MM-DD. At equal scores the newer date comes first; date ranges also use it. */
  readonly date: string | null;
  /** What is returned: the record of the operation. */
  readonly body: object;
  /** The text that a vector is made of, for corpora that are also searched by meaning. */
  readonly meaning?: string;
}

export interface IndexText {
  readonly text: string;
  /** How many times the frequency of a word counts, at least 1. */
  readonly weight: number;
  /** Indexed by words only, because pairs of characters would double the index. */
  readonly isLong?: true;
}

/** Makes a document from a stored record. */
export type MakeDocument = (record: never) => IndexDocument;

export interface RefreshOptions {
  /** Documents of one origin. A refresh replaces those of the same name. */
  readonly dataset: string;
  /**
   * `replace`: the data set becomes these documents. `update`: these documents replace those with the same ID.
   */
  readonly mode: "replace" | "update";
  /** Generated documents that fill up the corpus. The last of them are replaced in this switch. */
  readonly fill?: Fill;
  /** Identifies the documents exactly, so that an interrupted refresh continues where it stopped. */
  readonly resumeKey?: string;
  readonly signal?: AbortSignal;
  readonly progress?: (documents: number) => void;
  /**
   * Runs in the transaction of the switch: its changes take effect together with the switch, and an error undoes
   * both.
   */
  readonly atSwitch?: (change: DatasetChange) => Promise<void>;
}

/** What a switch does to a data set. */
export interface DatasetChange {
  /** The connection of the transaction. */
  readonly client: ClientBase;
  /** The snapshot that served until now. */
  readonly previous: number | null;
  /** Documents of the data set before and after the switch. */
  readonly before: number;
  readonly after: number;
  readonly added: readonly number[];
}

export interface Fill {
  readonly dataset: string;
  /** The size up to which the corpus is filled. */
  readonly upTo: number;
}

export interface RefreshReport {
  readonly snapshot: string;
  /** Documents served after the switch. */
  readonly size: number;
}

/** A condition on documents. Leaves are terms. */
export type Query =
  | { readonly term: string }
  | { readonly all: readonly Query[] }
  | { readonly any: readonly Query[] }
  | { readonly atLeast: number; readonly of: readonly Query[] }
  | { readonly not: Query }
  /** Terms at these distances from each other. */
  | { readonly phrase: readonly { readonly term: string; readonly at: number }[] };

export interface Question {
  /** What a document must contain. */
  readonly query: Query;
  /**
   * What a document should contain. Without this, every document that matches the query is found, unranked.
   */
  readonly wanted?: Wanted;
  /** Inclusive, YYYY-MM-DD. A document without a date is in no range. `none`: only documents without a date. */
  readonly dates?: { readonly from?: string; readonly to?: string } | "none";
}

/**
 * A question in words. Documents with an exact term rank first, then those with every concept of an alternative, then
 * those with any of the words.
 */
export interface Wanted {
  readonly alternatives: readonly (readonly Concept[])[];
  /** Further wordings that find and rank documents, but are not required. */
  readonly hints: readonly Wording[];
  /** Wordings that raise the rank of a document, but do not find documents by themselves. */
  readonly priors: readonly Wording[];
  /** Exact terms, each of which is an answer by itself. */
  readonly exact: readonly string[];
  /** Exact terms of documents that count as having every concept. They are among the hints, which rank them. */
  readonly sufficient: readonly string[];
}

/** One concept with its possible wordings. Of those that a document contains, the best counts. */
export type Concept = readonly Wording[];

export interface Wording {
  readonly terms: readonly string[];
  /** Relative to 1 for the words of the question. */
  readonly weight: number;
  /** If set, the weight itself is the score, regardless of term frequency and document length. */
  readonly isFlat?: true;
}

export interface SearchPage {
  readonly offset: number;
  readonly limit: number;
  /** The state to read from; by default the current one. */
  readonly snapshot?: string;
  /** Documents found by meaning, nearest first. They are fused with those that the words find. */
  readonly near?: readonly DocumentPlace[];
  readonly datasets?: {
    /** Documents of this data set rank below others of equal score. */
    readonly last?: string;
    /** Documents of this data set are left out. */
    readonly without?: string;
  };
}

export interface Found {
  readonly hits: readonly Hit[];
  /** The exact total. If very many documents match completely, only they are counted. */
  readonly total: number;
  /** How many of them have everything that is asked for. */
  readonly complete: number;
  /** Concepts that no document contains in any wording. */
  readonly unknown: ReadonlySet<Concept>;
  readonly index: IndexState;
  /** Whether documents found by meaning were fused with the others. */
  readonly isFused: boolean;
}

export interface Hit {
  readonly body: StoredBody;
  readonly dataset: string;
  /** By words: BM25. If meaning took part: 100 for a document that is first by both. */
  readonly score: number;
  /** The document has none of the words. */
  readonly byMeaning?: true;
}
