export interface RankJob {
  readonly query: string;
  readonly documents: readonly string[];
  /** If a query and its document exceed the window, cuts the document's end (true) or rejects it. */
  readonly truncate: boolean;
  /** Cuts each document to this many tokens first. Null keeps it whole. */
  readonly documentTokens: number | null;
  /** The request's own limit for a query with its document in tokens. Null means the window. */
  readonly numCtx: number | null;
}

export interface Ranks {
  /** One number per document as the model's head gives it. The more relevant, the larger. */
  readonly scores: readonly number[];
  /** Whether the head itself gives probabilities, as Qwen3-Reranker's does, and not any number. */
  readonly areProbabilities: boolean;
  /** Number of evaluated tokens for each document, with the query. */
  readonly tokens: readonly number[];
}
