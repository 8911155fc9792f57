import { z } from "zod";
import { given, list, optional } from "../body.ts";
import { samplingFields } from "./chat-completions.ts";

const tokens = list(z.int().min(0), { min: 1 });

/** A text, a list of texts, a list of tokens, or a list of token lists. */
const prompt = z.union([
  z.string(),
  tokens,
  list(z.string(), { min: 1, max: 64 }),
  list(tokens, { min: 1, max: 64 }),
]);

export const completionsRequest = z.object({
  model: z.string(),
  prompt,
  ...samplingFields,
  suffix: given(z.string()),
  echo: optional(z.boolean()),
  best_of: optional(z.int().min(1)),
  logprobs: optional(z.int().min(0).max(20)),
});

export const embeddingsRequest = z.object({
  model: z.string(),
  input: z.union([z.string(), tokens, list(z.string(), { max: 2048 }), list(tokens, { max: 2048 })]),
  encoding_format: optional(z.enum(["float", "base64"])),
  dimensions: optional(z.int().min(1)),
  /** An extension of locallm, as in the native API. */
  options: optional(z.record(z.string(), z.unknown())),
  keep_alive: optional(z.unknown()),
});

export type CompletionsRequest = z.output<typeof completionsRequest>;

/** A list of tokens is one input; a list of lists is several inputs. */
export function inputList(given: string | number[] | string[] | number[][]): (string | number[])[] {
  if (typeof given === "string") return [given];
  if (given.length > 0 && given.every((item) => typeof item === "number")) return [given as number[]];
  return given as (string | number[])[];
}
