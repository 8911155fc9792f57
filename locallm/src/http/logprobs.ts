import type { AnswerPiece } from "../dialogue/answer-piece.ts";
import { LocallmError } from "../wire/errors.ts";
import type { GenerateJob, SampledLogprob } from "../wire/inference/generate.ts";

const mostTop = 20;

/**
 * Returns the log probabilities that a request asks for, or undefined. Throws if `top_logprobs` is out of
 * range.
 */
export function logprobsWish(body: {
  readonly logprobs?: boolean | undefined;
  readonly top_logprobs?: number | undefined;
}): GenerateJob["logprobs"] {
  const { logprobs = false, top_logprobs: top = 0 } = body;
  if (top < 0 || top > mostTop)
    throw new LocallmError("invalid_field", {
      field: "top_logprobs",
      problem: `must be between 0 and ${mostTop}`,
    });
  return logprobs ? { top } : undefined;
}

/**
 * Assigns the tokens to the pieces of an answer. This is needed because the answer's reader removes marks and
 * holds text back.
 */
export class PieceLogprobs {
  readonly #waiting: SampledLogprob[] = [];

  add(logprobs: readonly SampledLogprob[]): void {
    this.#waiting.push(...logprobs);
  }

  /** Call it with each piece, in order. */
  addTo(piece: AnswerPiece): AnswerPiece {
    if (piece.kind !== "content" && piece.kind !== "thinking") return piece;
    return { ...piece, logprobs: this.#take(piece.text) };
  }

  /** The tokens of the next piece's text. Drops the tokens before it, which are marks. */
  #take(text: string): SampledLogprob[] {
    const begin = this.#waiting
      .map(({ token }) => token)
      .join("")
      .lastIndexOf(text);
    if (begin === -1) return this.#waiting.splice(0);
    const taken: SampledLogprob[] = [];
    let at = 0;
    while (this.#waiting.length > 0 && at < begin + text.length) {
      const next = this.#waiting.shift()!;
      at += next.token.length;
      if (at > begin) taken.push(next);
    }
    return taken;
  }
}
