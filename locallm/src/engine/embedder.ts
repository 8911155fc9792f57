import { LocallmError } from "../wire/errors.ts";
import type { Embeddings, EmbedJob } from "../wire/inference/embed.ts";
import { countedChars } from "../wire/inference/generate.ts";
import type { Context } from "./context.ts";
import type { Threads } from "./threads.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface EmbedderRequest {
  readonly vocabulary: Vocabulary;
  readonly context: Context;
  readonly sequences: number;
  readonly embeddingLength: number;
  readonly threads: Threads;
}

/**
 * Texts share a batch of up to this many tokens. Attention computes all pairs in a batch, even pairs of
 * different texts. In a test, 64 texts of 14 tokens took 650 ms of one core in batches of 128 or 256, and 730
 * ms in batches of 512.
 */
const batchTokens = 256;

const special = { addSpecial: true, parseSpecial: true };

/** Computes the vectors of texts, several texts in a batch. One call runs at a time; others wait in order. */
export class Embedder {
  readonly #request: EmbedderRequest;
  #last: Promise<unknown> = Promise.resolve();
  #calls = 0;
  #turns = 0;

  constructor(request: EmbedderRequest) {
    this.#request = request;
  }

  /** After an abort, rejects with the signal's reason within one batch. */
  async embed(job: EmbedJob, signal: AbortSignal): Promise<Embeddings> {
    // Tokenize before waiting for the previous call, because a long text takes seconds.
    const inputs = await this.#inputs(job, signal);
    this.#calls++;
    const result = this.#last.then(() => this.#embed(inputs, signal));
    const last = result
      .catch(() => undefined)
      .then(() => {
        this.#calls--;
        if (this.#last === last) this.#request.context.rest();
      });
    this.#last = last;
    return await result;
  }

  /** A number that grows while the embedder makes progress; see `Slots.progress`. */
  progress(): number {
    if (this.#calls === 0) this.#turns++;
    return this.#turns + this.#request.context.progress;
  }

  async #inputs(job: EmbedJob, signal: AbortSignal): Promise<number[][]> {
    const { context } = this.#request;
    const window = Math.min(job.numCtx ?? context.contextPerSequence, context.capacity);
    const inputs: number[][] = [];
    for (const [index, input] of job.inputs.entries())
      inputs.push(await this.#tokens(input, index, window, job.truncate, signal));
    return inputs;
  }

  async #embed(inputs: readonly (readonly number[])[], signal: AbortSignal): Promise<Embeddings> {
    const { context, sequences } = this.#request;
    const vectors: Float32Array[] = [];
    for (let from = 0; from < inputs.length; ) {
      signal.throwIfAborted();
      let to = from;
      let room = Math.max(inputs[from]!.length, Math.min(batchTokens, context.capacity));
      while (to < inputs.length && to - from < sequences && inputs[to]!.length <= room) {
        room -= inputs[to]!.length;
        to++;
      }
      vectors.push(...(await this.#batch(inputs.slice(from, to), signal)));
      from = to;
    }
    return { vectors, tokens: inputs.map((tokens) => tokens.length) };
  }

  async #batch(inputs: readonly (readonly number[])[], signal: AbortSignal): Promise<Float32Array[]> {
    const { context, embeddingLength } = this.#request;
    context.clearMemory();
    context.batch.clear();
    context.useThreads(this.#request.threads.begin(performance.now(), "prompts"));
    for (const [sequence, tokens] of inputs.entries()) {
      for (const [position, token] of tokens.entries()) context.batch.add(token, position, sequence, true);
    }
    const { rows } = context.batch;
    const abort = () => context.abort();
    signal.addEventListener("abort", abort, { once: true });
    const outcome = await context.stepAside();
    this.#request.threads.end(performance.now(), outcome === "done" ? rows : 0);
    signal.removeEventListener("abort", abort);
    signal.throwIfAborted();
    if (outcome !== "done") throw new LocallmError("decode_failed", { reason: outcome });
    return inputs.map((_, sequence) => {
      const vector = context.vector(sequence, embeddingLength);
      if (vector === null) throw new LocallmError("decode_failed", { reason: "the step gave no vector" });
      return vector;
    });
  }

  async #tokens(
    input: string | readonly number[],
    index: number,
    window: number,
    truncate: boolean,
    signal: AbortSignal,
  ): Promise<number[]> {
    const { vocabulary } = this.#request;
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
