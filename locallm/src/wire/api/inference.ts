import { z } from "zod";
import { given, list, optional } from "../body.ts";
import { message, think, tool } from "./message.ts";

/** Fields common to all requests that run a model. `keep_alive` and `options` are checked where they are read. */
const running = {
  model: z.string(),
  keep_alive: optional(z.unknown()),
  options: optional(z.record(z.string(), z.unknown())),
};

const answering = {
  ...running,
  stream: optional(z.boolean()),
  format: optional(z.unknown()),
  think: optional(think),
  truncate: optional(z.boolean()),
  shift: optional(z.boolean()),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(z.int()),
};

export const generateRequest = z.object({
  ...answering,
  prompt: optional(z.string()),
  suffix: given(z.string()),
  system: given(z.string()),
  template: given(z.string()),
  context: given(list(z.int().min(0))),
  raw: optional(z.boolean()),
  images: optional(list(z.string())),
});

export const chatRequest = z.object({
  ...answering,
  messages: optional(list(message)),
  tools: optional(list(tool)),
});

export const embedRequest = z.object({
  ...running,
  input: optional(z.union([z.string(), list(z.string())])),
  truncate: optional(z.boolean()),
  dimensions: optional(z.int().min(1)),
});

/** The fields of Jina, Cohere and llama-server; with `texts`, those of Hugging Face's text-embeddings-inference. */
export const rerankRequest = z.object({
  ...running,
  query: z.string(),
  documents: optional(list(z.union([z.string(), z.object({ text: z.string() })]))),
  texts: optional(list(z.string())),
  top_n: optional(z.int().min(1)),
  return_documents: optional(z.boolean()),
  return_text: optional(z.boolean()),
  /** True gives probabilities instead of the numbers of the model's head. */
  normalize: optional(z.boolean()),
  raw_scores: optional(z.boolean()),
  truncate: optional(z.boolean()),
  max_tokens_per_doc: optional(z.int().min(1)),
});

/** The older route, which takes one text and returns one vector that is not normalised. */
export const embeddingsRequest = z.object({ ...running, prompt: optional(z.string()) });

export const tokenizeRequest = z.object({
  ...running,
  content: z.string(),
  add_special: optional(z.boolean()),
  parse_special: optional(z.boolean()),
});

export const detokenizeRequest = z.object({ ...running, tokens: list(z.int().min(0)) });

export type RerankRequest = z.output<typeof rerankRequest>;
export type GenerateRequest = z.output<typeof generateRequest>;
export type ChatRequest = z.output<typeof chatRequest>;
