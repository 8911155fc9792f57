import { LocallmError } from "../wire/errors.ts";
import type { Embeddings, EmbedJob } from "../wire/inference/embed.ts";
import { countedChars } from "../wire/inference/generate.ts";
import type { Pooler } from "./pooler.ts";
import type { Vocabulary } from "./vocabulary.ts";

const special = { addSpecial: true, parseSpecial: true };

/** Computes the vectors of texts. */
export class Embedder {
  readonly #vocabulary: Vocabulary;
  readonly #pooler: Pooler;

  constructor(vocabulary: Vocabulary, pooler: Pooler) {
    this.#vocabulary = vocabulary;
    this.#pooler = pooler;
  }

  /** After an abort, rejects with the signal's reason within one batch. */
  async embed(job: EmbedJob, signal: AbortSignal): Promise<Embeddings> {
    const { capacity } = this.#pooler;
    const window = Math.min(job.numCtx ?? capacity, capacity);
    const inputs: number[][] = [];
    // Tokenize before waiting for the other calls, because a long text takes seconds.
    for (const [index, input] of job.inputs.entries())
      inputs.push(await this.#tokens(input, index, window, job.truncate, signal));
    const vectors = await this.#pooler.pool(inputs, signal);
    return { vectors, tokens: inputs.map((tokens) => tokens.length) };
  }

  async #tokens(
    input: string | readonly number[],
    index: number,
    window: number,
    truncate: boolean,
    signal: AbortSignal,
  ): Promise<number[]> {
    const vocabulary = this.#vocabulary;
    if (typeof input !== "string") vocabulary.checkIds(input);
    // Add a few tokens to the limit, because the last tokens may differ if tokenizing stops early.
    const limit = truncate || input.length > countedChars ? { limit: window + 64 } : {};
    const tokens =
      typeof input === "string"
        ? await vocabulary.tokenizeAside(input, { ...special, ...limit }, signal)
        : [...input];
    if (tokens.length === 0) tokens.push(Math.max(0, vocabulary.bos));
    if (tokens.length <= window) return tokens;
    if (!truncate) {
      const inputTokens = input.length > countedChars ? `over ${window}` : tokens.length;
      throw new LocallmError("input_too_long", { index, inputTokens, contextLength: window });
    }
    // If the vocabulary appends an end token to every text, a truncated text needs it too.
    const marks = vocabulary.tokenize("", special);
    if (typeof input === "string" && window <= marks.length)
      throw new LocallmError("input_cut_away", { index, contextLength: window });
    const closing = marks[1];
    if (closing === undefined) return tokens.slice(0, window);
    return [...tokens.slice(0, Math.max(1, window - 1)), closing].slice(0, Math.max(1, window));
  }
}
