import type { SampledLogprob } from "../wire/inference/generate.ts";

/** A part of an answer, in the order the model wrote it. */
export type AnswerPiece =
  | {
      readonly kind: "content" | "thinking";
      readonly text: string;
      /** The log probabilities of the text's tokens, if requested. */
      readonly logprobs?: readonly SampledLogprob[];
      /** How many lines of the client's stream have told the text already. */
      readonly toldIn?: number;
    }
  /** A tool call begins; `index` counts from 0. */
  | { readonly kind: "call"; readonly index: number; readonly id: string; readonly name: string }
  /** The next part of its arguments, as JSON text. */
  | { readonly kind: "arguments"; readonly index: number; readonly text: string }
  /** The call is complete. `arguments` is null if the model's text was cut off or is not a JSON object. */
  | { readonly kind: "called"; readonly index: number; readonly call: FinishedCall };

export interface FinishedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** The arguments as the model wrote them. */
  readonly text: string;
}

/** Reads a part of the text. Yields pieces, and `undefined` when it needs more text. */
export type Reading<Result> = Generator<AnswerPiece | undefined, Result>;

export const content = (text: string): AnswerPiece => ({ kind: "content", text });
export const thought = (text: string): AnswerPiece => ({ kind: "thinking", text });
