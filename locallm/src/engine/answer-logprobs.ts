import type { SampledLogprob } from "../wire/inference/generate.ts";

/** Holds back the log probabilities of an answer's tokens until their text is sent. */
export class AnswerLogprobs {
  readonly #held: { readonly logprob: SampledLogprob; readonly begin: number }[] = [];
  #generatedBytes = 0;
  #sentBytes = 0;

  add(logprob: SampledLogprob): void {
    this.#held.push({ logprob, begin: this.#generatedBytes });
    this.#generatedBytes += logprob.bytes.length;
  }

  /** Returns the log probabilities of the tokens that begin in `text`, which is sent next. */
  take(text: string): SampledLogprob[] {
    this.#sentBytes += Buffer.byteLength(text);
    const rest = this.#held.findIndex(({ begin }) => begin >= this.#sentBytes);
    return this.#held.splice(0, rest === -1 ? this.#held.length : rest).map(({ logprob }) => logprob);
  }
}
