import { z } from "zod";
import { list, optional } from "../body.ts";
import type { OptionName } from "../options.ts";
import { soundFormats } from "../sound.ts";

const text = z.object({ type: z.literal("text"), text: z.string() });
const part = z.discriminatedUnion("type", [
  text,
  z.object({ type: z.literal("refusal"), refusal: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
  z.object({
    type: z.literal("input_audio"),
    input_audio: z.object({ data: z.string(), format: optional(z.enum(soundFormats)) }),
  }),
  z.object({ type: z.literal("file"), file: z.unknown() }),
]);

/** `arguments` is a JSON string, but may be invalid if a model wrote it. */
const calledFunction = z.object({ name: z.string(), arguments: optional(z.string()) });

const toolCall = z.union([
  z.object({ id: optional(z.string()), type: optional(z.literal("function")), function: calledFunction }),
  z.object({
    id: optional(z.string()),
    type: z.literal("custom"),
    custom: z.object({ name: z.string(), input: optional(z.string()) }),
  }),
]);

const message = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content: optional(z.union([z.string(), list(part)])),
  name: optional(z.string()),
  reasoning: optional(z.string()),
  reasoning_content: optional(z.string()),
  tool_calls: optional(list(toolCall)),
  /** What came before `tool_calls`. */
  function_call: optional(calledFunction),
  tool_call_id: optional(z.string()),
});

const functionTool = z.object({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string().min(1).max(128),
    description: optional(z.string()),
    parameters: optional(z.record(z.string(), z.unknown())),
  }),
});

/** A kind of tool that is left out. */
const otherTool = z
  .looseObject({ type: z.string() })
  .refine(({ type }) => type !== "function")
  .transform(({ type }) => ({ type: "other" as const, name: type }));

const toolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) }),
  z.object({
    type: z.literal("allowed_tools"),
    allowed_tools: z.object({
      mode: z.enum(["auto", "required"]),
      tools: list(z.looseObject({ function: optional(z.looseObject({ name: optional(z.string()) })) })),
    }),
  }),
  /** Custom tools are left out, so that one cannot be chosen. */
  z.object({ type: z.literal("custom") }),
]);

const responseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: z.looseObject({
      name: optional(z.string()),
      schema: optional(z.record(z.string(), z.unknown())),
    }),
  }),
]);

export const reasoningEffort = z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

const isSeed = (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63;

/** Sampling fields of llama-server, vLLM and SGLang, and the option that each sets. */
export const engineFields = {
  ...{ top_k: "top_k", min_p: "min_p", typical_p: "typical_p", min_keep: "min_keep" },
  ...{ repeat_penalty: "repeat_penalty", repetition_penalty: "repeat_penalty" },
  ...{ repeat_last_n: "repeat_last_n", n_keep: "num_keep" },
  ...{ mirostat: "mirostat", mirostat_tau: "mirostat_tau", mirostat_eta: "mirostat_eta" },
  ...{ xtc_probability: "xtc_probability", xtc_threshold: "xtc_threshold" },
  ...{ dry_multiplier: "dry_multiplier", dry_base: "dry_base", dry_allowed_length: "dry_allowed_length" },
  lora: "lora",
  ...{ dry_penalty_last_n: "dry_penalty_last_n", dry_sequence_breakers: "dry_sequence_breakers" },
} as const satisfies Record<string, OptionName>;

/** Their values are checked as those of options are. */
const engineValue = optional(z.unknown());
const engineValues = Object.fromEntries(
  Object.keys(engineFields).map((name) => [name, engineValue]),
) as Record<keyof typeof engineFields, typeof engineValue>;

/** Sampling fields common to chat/completions and completions, with OpenAI's ranges. */
export const samplingFields = {
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  frequency_penalty: optional(z.number().min(-2).max(2)),
  presence_penalty: optional(z.number().min(-2).max(2)),
  seed: optional(z.number().refine(isSeed, "must be a 64-bit integer")),
  stop: optional(z.union([z.string(), z.array(z.string()).max(4)])),
  logit_bias: optional(z.record(z.string().regex(/^\d+$/), z.number().min(-100).max(100))),
  max_tokens: optional(z.int().min(1)),
  stream: optional(z.boolean()),
  stream_options: optional(z.object({ include_usage: optional(z.boolean()) })),
  n: optional(z.int().min(1)),
  ...engineValues,
  /** An extension of locallm, as in the native API. */
  options: optional(z.record(z.string(), z.unknown())),
  keep_alive: optional(z.unknown()),
};

export const chatCompletionsRequest = z.object({
  model: z.string(),
  messages: optional(list(message)),
  ...samplingFields,
  max_completion_tokens: optional(z.int().min(1)),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(z.int()),
  tools: optional(list(z.union([functionTool, otherTool]))),
  tool_choice: optional(toolChoice),
  parallel_tool_calls: optional(z.boolean()),
  response_format: optional(responseFormat),
  reasoning_effort: optional(reasoningEffort),
  reasoning: optional(z.object({ effort: optional(reasoningEffort) })),
});

export type ChatCompletionsRequest = z.output<typeof chatCompletionsRequest>;
export type ChatCompletionsMessage = z.output<typeof message>;
export type SamplingFields = {
  [Name in keyof typeof samplingFields]?: z.output<(typeof samplingFields)[Name]>;
};

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: {
    readonly reasoning_tokens: number;
    /** Missing if nothing was guessed ahead. */
    readonly accepted_prediction_tokens?: number;
    readonly rejected_prediction_tokens?: number;
  };
}
