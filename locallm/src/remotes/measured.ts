import type { AnswerPiece } from "../dialogue/answer-piece.ts";
import type { GenerateDone } from "../wire/inference/generate.ts";
import type { RemoteEvent } from "./engine.ts";

/** What an engine reports at the end of its answer. Null if it does not report the value. */
export interface Counts {
  readonly promptTokens: number | null;
  readonly cachedTokens: number | null;
  readonly evalTokens: number | null;
  readonly thinkingTokens: number | null;
  readonly promptNs: number | null;
  readonly evalNs: number | null;
}

export const noCounts: Counts = {
  ...{ promptTokens: null, cachedTokens: null, evalTokens: null },
  ...{ thinkingTokens: null, promptNs: null, evalNs: null },
};

/** Times an answer and estimates the counts that the engine does not report. */
export class Measured {
  readonly #now: () => number;
  #promptBytes = 0;
  readonly #startedMs: number;
  #firstMs: number | null = null;
  #chars = 0;
  #thinkingChars = 0;
  #pieces = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedMs = now();
  }

  /** The size of the request, from which a missing count of the prompt's tokens is estimated. */
  sent(bytes: number): void {
    this.#promptBytes = bytes;
  }

  see(piece: AnswerPiece): void {
    this.#firstMs ??= this.#now();
    if (!("text" in piece)) return;
    this.#pieces += 1;
    this.#chars += piece.text.length;
    if (piece.kind === "thinking") this.#thinkingChars += piece.text.length;
  }

  done(reason: GenerateDone["reason"], stopString: string | null, counts: Counts): RemoteEvent {
    const endMs = this.#now();
    const firstMs = this.#firstMs ?? endMs;
    // Engines send about one piece for each token. A token of a prompt has about four bytes.
    const evalTokens = counts.evalTokens ?? this.#pieces;
    const promptTokens = counts.promptTokens ?? Math.ceil(this.#promptBytes / 4);
    const share = this.#chars === 0 ? 0 : this.#thinkingChars / this.#chars;
    const isEstimated = counts.evalTokens === null || counts.promptTokens === null;
    return {
      kind: "done",
      done: {
        ...{ kind: "done", reason, stopString, promptTokens, evalTokens },
        cachedTokens: Math.min(counts.cachedTokens ?? 0, promptTokens),
        promptNs: counts.promptNs ?? nanoseconds(firstMs - this.#startedMs),
        evalNs: counts.evalNs ?? nanoseconds(endMs - firstMs),
        ...{ truncatedTokens: 0, shiftedTokens: 0, context: null },
      },
      thinkingTokens: counts.thinkingTokens ?? Math.round(evalTokens * share),
      ...(isEstimated ? { isEstimated } : {}),
    };
  }
}

export function nanoseconds(ms: number): number {
  return Math.min(Math.round(ms * 1e6), Number.MAX_SAFE_INTEGER);
}
