import type { IndexState } from "@dataq/contract";
import type { ClientBase } from "pg";
import type { Analyser } from "./analysis/analyser.ts";
import type { Lexicons } from "./analysis/lexicons.ts";
import type { Place, StoredBody } from "./stored-body.ts";

/**
 * Finds records by words and exact terms. The rest of the service knows nothing else of the search. `postings/` keeps
 * posting blocks in PostgreSQL, `opensearch/` asks an OpenSearch. `test/search-conformance.ts` checks what the index must
 * do with every engine.
 *
 * A corpus is served from a snapshot, which never changes. A method that takes a snapshot reads that one, or the current
 * one by default, and throws `snapshot_expired` if it was deleted.
 */
export interface SearchIndex {
  /** Indexes `documents` beside what is being served and switches to them in one transaction. */
  refresh(
    corpus: string,
    documents: AsyncIterable<IndexDocument>,
    options: RefreshOptions,
  ): Promise<RefreshReport>;
  /**
   * Indexes what is served again with the newest dictionary, then switches. Without `document` (records that are only
   * looked up) nothing would change. Returns the corpus's size.
   */
  rebuild(
    corpus: string,
    document: MakeDocument | undefined,
    options?: { readonly signal?: AbortSignal },
  ): Promise<number>;
  /** Undefined if nothing was ever added to the corpus. */
  search(corpus: string, question: Question, page: SearchPage): Promise<Found | undefined>;
  /** How many documents contain all these terms, excluding those of one data set. */
  count(corpus: string, terms: readonly string[], without?: string): Promise<number>;
  /**
   * The first 60,000 exact terms that begin with a prefix, such as the names of all laws. Returns the same array as long
   * as the snapshot is served.
   */
  terms(corpus: string, prefix: string): Promise<readonly string[]>;
  /** The most frequent of these words, most frequent first. Words that no document contains are left out. */
  mostFrequent(
    corpus: string,
    words: readonly string[],
    count: number,
    snapshot?: string,
  ): Promise<readonly string[]>;
  /** The analyser that split the corpus's documents, for its questions. Undefined for a corpus without any. */
  analyser(corpus: string, snapshot?: string): Promise<Analyser | undefined>;
  /** The dictionaries of all corpora. */
  readonly lexicons: Lexicons;
  /** The current snapshot; undefined for a corpus without one. */
  state(corpus: string): Promise<IndexState | undefined>;
  /** Every corpus with what it serves. */
  corpora(): Promise<readonly (IndexState & { readonly corpus: string })[]>;
  /** What a snapshot serves, by data set; empty for a corpus without one. */
  contents(corpus: string, snapshot?: string): Promise<Contents>;
  /** Every document that is served now, in the order in which it was added. */
  documents(corpus: string, dataset?: string): AsyncIterable<object>;
  /** The documents that a data set had in an older snapshot that was kept. */
  documentsAt(snapshot: number, dataset: string): AsyncIterable<object>;
  /** Bodies by their places; undefined for those that were deleted. */
  read(places: readonly Place[]): Promise<readonly (StoredBody | undefined)[]>;
  /** The next use of the corpus, or of any, reads its current snapshot, because another process may have changed it. */
  forget(corpus?: string): void;
  /** The documents as vectors see them, for the search by meaning. */
  readonly vectors: VectorSpace;
  /** Loads what the first question would wait for. */
  warm(): Promise<void>;
  /** Whether the engine answers, for monitoring. Never rejects. */
  health(): Promise<EngineHealth>;
  close(): Promise<void>;
}

/** The documents of a corpus as vectors are stored for them: by segment, and in it by ordinal. */
export interface VectorSpace {
  /** The segments of a snapshot. */
  segments(
    corpus: string,
    snapshot?: string,
  ): Promise<{ readonly snapshot: number; readonly segments: readonly VectorSegment[] } | undefined>;
  /** The segments of a snapshot. A bit in `allowed` for each ordinal that a question allows; undefined allows all. */
  allowed(
    corpus: string,
    question: Pick<Question, "query" | "dates">,
    page: Pick<SearchPage, "snapshot" | "datasets">,
  ): Promise<readonly (VectorSegment & { readonly allowed: Uint8Array | undefined })[]>;
  /** Documents of a segment from one ordinal (included) to another (excluded). */
  stored(
    segment: number,
    from: number,
    to: number,
  ): Promise<readonly { readonly ordinal: number; readonly id: string; readonly body: object }[]>;
  place(document: { readonly segment: number; readonly ordinal: number }): Place;
}

export interface VectorSegment {
  readonly id: number;
  readonly dataset: string;
  readonly documents: number;
}

export interface EngineHealth {
  /** Its name and version. */
  readonly engine: string;
  /** Why it does not answer; null if it does. */
  readonly trouble: string | null;
}

/** The data sets of a snapshot. */
export type Contents = ReadonlyMap<string, DatasetContents>;

export interface DatasetContents {
  /** How many documents are served. */
  readonly documents: number;
  /** Whether a document has no date. */
  readonly hasUndated: boolean;
  /** The oldest date of a document, YYYY-MM-DD; null if no document has one. */
  readonly oldestDay: string | null;
  /** The newest date of a document, YYYY-MM-DD; null if no document has one. */
  readonly newestDay: string | null;
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
  /** The first IDs of new documents that are not served because another document has the same ID. */
  hiddenIds(most: number): Promise<readonly string[]>;
  /** Keeps the previous snapshot, so that its data sets can be restored. */
  keepPrevious(until: Date): Promise<void>;
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
 * A question in words. Documents with an exact term rank first, then those with every concept of an alternative in the
 * question's own words, then those that have some concepts only in related words, then those with any of the words.
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
  /** Other words than those of the question, such as the law's for an everyday word. */
  readonly isRelated?: true;
}

export interface SearchPage {
  readonly offset: number;
  readonly limit: number;
  /** The state to read from; by default the current one. */
  readonly snapshot?: string;
  /** Documents found by meaning, nearest first. They are fused with those that the words find. */
  readonly near?: readonly Place[];
  readonly datasets?: {
    /** Documents of this data set rank below others of equal score. */
    readonly last?: string;
    /** Documents of this data set are left out. */
    readonly without?: string;
  };
}

export interface Found {
  readonly hits: readonly Hit[];
  /** How many documents match. If very many match completely, only they are counted. */
  readonly total: number;
  /** `gte`: at least `total` documents match. */
  readonly totalRelation: "eq" | "gte";
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
