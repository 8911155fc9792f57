import type { SampledLogprob, TokenLogprob } from "../../wire/inference/generate.ts";

/** The older format, used only by completions. It has one list per field. */
export interface CompletionLogprobs {
  readonly tokens: readonly string[];
  readonly token_logprobs: readonly number[];
  /** Null if the request asks for no alternatives. */
  readonly top_logprobs: readonly Readonly<Record<string, number>>[] | null;
  /** Where each token begins in the choice's text. */
  readonly text_offset: readonly number[];
}

/** Converts the tokens of one choice, part by part. */
export class CompletionLogprobsWriter {
  #offset = 0;

  write(logprobs: readonly SampledLogprob[]): CompletionLogprobs {
    const hasTop = logprobs.some(({ top_logprobs: top }) => top.length > 0);
    return {
      tokens: logprobs.map(nameOf),
      token_logprobs: logprobs.map(({ logprob }) => logprob),
      top_logprobs: hasTop ? logprobs.map(topOf) : null,
      text_offset: logprobs.map(({ token }) => {
        const begin = this.#offset;
        this.#offset += token.length;
        return begin;
      }),
    };
  }
}

function topOf({ top_logprobs: top }: SampledLogprob): Record<string, number> {
  return Object.fromEntries(top.map((each) => [nameOf(each), each.logprob]));
}

/**
 * Like OpenAI, names a token with part of a code point by its bytes, because several tokens have the same
 * text.
 */
function nameOf({ token, bytes }: TokenLogprob): string {
  if (!token.includes("\ufffd")) return token;
  return `bytes:${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
}
