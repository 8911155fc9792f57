import type { Analyser } from "./analysis/analyser.ts";
import type {
  Concept,
  EngineHealth,
  IndexDocument,
  MakeDocument,
  Question,
  RefreshOptions,
  RefreshReport,
} from "./search-index.ts";
import type { Position } from "./snapshots/bodies.ts";
import type { Building } from "./snapshots/build.ts";
import type { ReadSnapshot } from "./snapshots/open-snapshot.ts";

/**
 * Keeps the words of documents and finds documents by them. Everything else is in PostgreSQL, the same for every engine
 * (`engine-index.ts`). An engine is asked only about segments whose words it has.
 */
export interface Engine {
  /** Indexes the documents beside what is being served and switches to them in one transaction. */
  refresh(
    building: Building,
    documents: AsyncIterable<IndexDocument>,
    /** To be called when the build has its lock, because a rebuild may just have switched to a newer dictionary. */
    findAnalyser: () => Promise<Analyser>,
    options: RefreshOptions,
  ): Promise<RefreshReport>;
  /** Indexes everything that is served again and switches to all of it at once. */
  rebuild(
    building: Building,
    make: MakeDocument,
    analyser: Analyser,
    signal: AbortSignal | undefined,
  ): Promise<RefreshReport>;
  /** Ranks the documents of a question. */
  rank(read: ReadSnapshot, question: Question, page: RankPage): Promise<Ranked>;
  /** How many documents contain all these terms. */
  count(read: ReadSnapshot, terms: readonly string[]): Promise<number>;
  /** Exact terms that begin with a prefix, in order, and no more than `mostTerms`. */
  terms(read: ReadSnapshot, prefix: string): Promise<readonly string[]>;
  /** The most frequent of these words, most frequent first. Words that no document contains are left out. */
  mostFrequent(read: ReadSnapshot, words: readonly string[], count: number): Promise<readonly string[]>;
  /** For each segment a bit for each document that a question allows; undefined if it allows all. */
  allow(
    read: ReadSnapshot,
    question: Pick<Question, "query" | "dates">,
  ): Promise<readonly (Uint8Array | undefined)[]>;
  /** Prepares for questions about corpora of up to this size. */
  warm?(largest: number): void;
  /** No question reads the snapshot any more. */
  forget?(snapshot: number): void;
  /** Never rejects. */
  health(): Promise<EngineHealth>;
  close(): Promise<void>;
}

/** OpenSearch answers with 65,535 at most (`search.max_buckets`). */
export const mostTerms = 60_000;

export interface RankPage {
  readonly offset: number;
  readonly limit: number;
  /** Documents of this data set rank below others of equal score. */
  readonly last: string | undefined;
  /** Documents that were found by meaning. The engine says which of them it finds too. */
  readonly near: readonly Position[];
}

export interface Ranked {
  /** The documents of the page, best first. */
  readonly documents: readonly (Position & { readonly score: number })[];
  readonly total: number;
  /** How many have everything that is asked for. */
  readonly complete: number;
  /** Concepts that no document contains in any wording. */
  readonly unknown: ReadonlySet<Concept>;
  /** Whether the first document of the page has an exact term. */
  readonly isExact: boolean;
  /** Positions in `near` of documents without any of the words, and how many of `near` are not in `total`. */
  readonly wordless: readonly number[];
  readonly uncounted: number;
}
