import type { Sampling } from "../wire/inference/generate.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";
import type { Vocabulary } from "./vocabulary.ts";

const mostKept = 8;

/**
 * Makes the samplers that lower the logits of repetitions. For each breaker the engine searches its whole vocabulary, so
 * the samplers of the last settings are kept, and copied for each answer.
 */
export class DryStages {
  readonly #library: Functions;
  readonly #vocabulary: Pick<Vocabulary, "pointer">;
  readonly #kept = new Map<string, Pointer>();

  constructor(library: Functions, vocabulary: Pick<Vocabulary, "pointer">) {
    this.#library = library;
    this.#vocabulary = vocabulary;
  }

  /** A sampler without history. The caller owns it. */
  make(settings: Sampling["dry"]): Pointer {
    const key = JSON.stringify(settings);
    const kept = this.#kept.get(key) ?? this.#init(settings);
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    for (const [oldest, unused] of this.#kept) {
      if (this.#kept.size <= mostKept) break;
      this.#kept.delete(oldest);
      this.#library.llama_sampler_free(unused);
    }
    return this.#library.llama_sampler_clone(kept);
  }

  #init({ multiplier, base, allowedLength, lastN, breakers }: Sampling["dry"]): Pointer {
    const { pointer } = this.#vocabulary;
    const values = [multiplier, base, allowedLength, lastN, breakers, breakers.length] as const;
    return this.#library.llama_sampler_init_dry(pointer, ...values);
  }
}
