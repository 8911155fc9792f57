import { LocallmError } from "../wire/errors.ts";
import type { Context } from "./context.ts";
import type { Threads } from "./threads.ts";

export interface PoolerRequest {
  readonly context: Context;
  readonly sequences: number;
  /** How many numbers the model gives for one sequence. */
  readonly length: number;
  readonly threads: Threads;
}

/**
 * Sequences share a batch of up to this many tokens. Attention computes all pairs in a batch, even pairs of
 * different sequences. In a test, 64 texts of 14 tokens took 650 ms of one core in batches of 128 or 256, and 730
 * ms in batches of 512.
 */
const batchTokens = 256;

/**
 * Computes the pooled numbers of token sequences, several sequences in a batch. One batch is computed at a time;
 * calls take turns with one batch each, so that a long call does not hold up a short one.
 */
export class Pooler {
  readonly #request: PoolerRequest;
  #last: Promise<unknown> = Promise.resolve();
  #calls = 0;
  #turns = 0;

  constructor(request: PoolerRequest) {
    this.#request = request;
  }

  /** The longest sequence, in tokens, that the engine's memory holds. */
  get capacity(): number {
    const { context } = this.#request;
    return Math.min(context.contextPerSequence, context.capacity);
  }

  /** After an abort, rejects with the signal's reason within one batch. */
  async pool(inputs: readonly (readonly number[])[], signal: AbortSignal): Promise<Float32Array[]> {
    this.#calls++;
    try {
      const rows: Float32Array[] = [];
      while (rows.length < inputs.length) {
        const batch = this.#batchFrom(inputs, rows.length);
        rows.push(...(await this.#turn(() => this.#compute(batch, signal))));
      }
      return rows;
    } finally {
      this.#calls--;
      if (this.#calls === 0) this.#request.context.rest();
    }
  }

  /** A number that grows while the pooler makes progress; see `Slots.progress`. */
  progress(): number {
    if (this.#calls === 0) this.#turns++;
    return this.#turns + this.#request.context.progress;
  }

  async #turn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return await result;
  }

  #batchFrom(inputs: readonly (readonly number[])[], from: number): readonly (readonly number[])[] {
    const { context, sequences } = this.#request;
    let to = from;
    let room = Math.max(inputs[from]!.length, Math.min(batchTokens, context.capacity));
    while (to < inputs.length && to - from < sequences && inputs[to]!.length <= room) {
      room -= inputs[to]!.length;
      to++;
    }
    return inputs.slice(from, to);
  }

  async #compute(inputs: readonly (readonly number[])[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted();
    const { context, length, threads } = this.#request;
    context.clearMemory();
    context.batch.clear();
    context.useThreads(threads.begin(performance.now(), "prompts"));
    for (const [sequence, tokens] of inputs.entries()) {
      for (const [position, token] of tokens.entries()) context.batch.add(token, position, sequence, true);
    }
    const { rows } = context.batch;
    const abort = () => context.abort();
    signal.addEventListener("abort", abort, { once: true });
    const outcome = await context.stepAside();
    threads.end(performance.now(), outcome === "done" ? rows : 0);
    signal.removeEventListener("abort", abort);
    signal.throwIfAborted();
    if (outcome !== "done") throw new LocallmError("decode_failed", { reason: outcome });
    return inputs.map((_, sequence) => {
      const vector = context.vector(sequence, length);
      if (vector === null) throw new LocallmError("decode_failed", { reason: "the step gave no vector" });
      return vector;
    });
  }
}
