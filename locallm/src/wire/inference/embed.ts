export interface EmbedJob {
  readonly inputs: readonly (string | readonly number[])[];
  /** If an input exceeds the window, cuts its end (true) or rejects it. */
  readonly truncate: boolean;
  /** The request's own limit for one input in tokens. Null means the window. */
  readonly numCtx: number | null;
}

export interface Embeddings {
  /** One vector per input, pooled by the model, not normalised. */
  readonly vectors: readonly Float32Array[];
  /** Number of evaluated tokens for each input. */
  readonly tokens: readonly number[];
}
