import type { Context } from "./context.ts";
import type { Functions } from "./libllama/functions.ts";
import { logprobOf, readLogits } from "./logprobs.ts";
import type { Threads } from "./threads.ts";
import type { Vocabulary } from "./vocabulary.ts";

interface ScorerRequest {
  readonly library: Pick<Functions, "llama_get_logits_ith">;
  readonly vocabulary: Vocabulary;
  /** One sequence, with an output for each row. */
  readonly context: Context;
  readonly threads: Threads;
}

/** Tells how likely a model finds the tokens of a text. */
export class Scorer {
  readonly #request: ScorerRequest;

  constructor(request: ScorerRequest) {
    this.#request = request;
  }

  /** The log probabilities of the tokens from index `from` on, at least 1, each after all tokens before it. */
  async logprobs(tokens: readonly number[], from: number): Promise<number[]> {
    const { library, vocabulary, context, threads } = this.#request;
    context.clearMemory();
    const found: number[] = [];
    // The last token predicts nothing.
    for (let at = 0; at < tokens.length - 1; at += context.capacity) {
      const end = Math.min(at + context.capacity, tokens.length - 1);
      context.batch.clear();
      for (let index = at; index < end; index++)
        context.batch.add(tokens[index]!, index, 0, index + 1 >= from);
      context.useThreads(threads.begin(performance.now(), "prompts"));
      const outcome = await context.stepAside();
      threads.end(performance.now(), outcome === "done" ? end - at : 0);
      if (outcome !== "done") throw new Error(`the step ended with ${outcome}`);
      for (let index = Math.max(at, from - 1); index < end; index++) {
        const logits = readLogits(library, context.pointer, index - at, vocabulary.size);
        found.push(logprobOf(logits, tokens[index + 1]!));
      }
    }
    context.rest();
    threads.rest();
    return found;
  }
}
