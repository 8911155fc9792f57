import koffi from "koffi";
import { LocallmError } from "../wire/errors.ts";
import type { SampledLogprob, TokenLogprob } from "../wire/inference/generate.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";

/**
 * Views of the library's memory by their address. To make one takes longer than to sample from it, and steps use the
 * same few again. A view of freed memory is never read: its address comes back only with new memory.
 */
const views = new Map<Pointer, Float32Array>();
const mostViews = 1024;

/** Reads the model's scores of all tokens from the library's memory. They are valid until the next step. */
export function readLogits(
  library: Pick<Functions, "llama_get_logits_ith">,
  context: Pointer,
  index: number,
  vocabSize: number,
): Float32Array {
  const address = library.llama_get_logits_ith(context, index);
  if (address === null) throw new LocallmError("decode_failed", { reason: "the step gave no logits" });
  const known = views.get(address);
  if (known?.length === vocabSize) return known;
  if (views.size === mostViews) views.clear();
  const view = new Float32Array(koffi.view(address, vocabSize * 4));
  views.set(address, view);
  return view;
}

/** The log probabilities of a sampled token and of the `top` likeliest ones, before sampling changes them. */
export function tokenLogprobs(
  logits: Float32Array,
  sampled: number,
  top: number,
  pieceOf: (token: number) => Uint8Array,
): SampledLogprob {
  const likeliest = likeliestTokens(logits, top);
  const normaliser = logSumExp(logits);
  const shown = (token: number): TokenLogprob => {
    const bytes = [...pieceOf(token)];
    // JSON has no infinity.
    const logprob = Math.max(logits[token]! - normaliser, lowest);
    return { token: Buffer.from(bytes).toString(), logprob, bytes };
  };
  return { ...shown(sampled), top_logprobs: likeliest.map(shown) };
}

/** The log probability of one token. */
export function logprobOf(logits: Float32Array, token: number): number {
  return logits[token]! - logSumExp(logits);
}

/** The value that OpenAI uses for a token with almost no probability. */
const lowest = -9999;

function logSumExp(logits: Float32Array): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > most) most = logit;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - most);
  return most + Math.log(sum);
}

/** Returns the tokens with the highest scores, highest first. Equal scores are ordered by id. */
function likeliestTokens(logits: Float32Array, count: number): number[] {
  const best: number[] = [];
  for (let token = 0; token < logits.length && count > 0; token++) {
    const logit = logits[token]!;
    if (best.length === count && logit <= logits[best[count - 1]!]!) continue;
    let at = best.length;
    while (at > 0 && logits[best[at - 1]!]! < logit) at--;
    best.splice(at, 0, token);
    if (best.length > count) best.pop();
  }
  return best;
}
