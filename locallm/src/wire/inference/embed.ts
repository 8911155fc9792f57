export interface EmbedJob {
  readonly inputs: readonly (string | readonly number[])[];
  /** If an input exceeds the window: cut its end (true), or reject it. */
  readonly truncate: boolean;
  /** The request's own limit for one input, in tokens; null: the window. */
  readonly numCtx: number | null;
}

export interface Embeddings {
  /** One vector per input, pooled by the model, not normalised. */
  readonly vectors: readonly Float32Array[];
  /** Number of evaluated tokens for each input. */
  readonly tokens: readonly number[];
}
