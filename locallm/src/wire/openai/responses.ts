import { z } from "zod";
import { list, optional } from "../body.ts";
import { reasoningEffort } from "./chat-completions.ts";

const part = z.looseObject({ type: z.string(), text: optional(z.string()), refusal: optional(z.string()) });
const content = z.union([z.string(), list(part)]);

/** The object is not strict, because clients send back whole items of earlier responses. */
const readItem = z.looseObject({
  type: optional(z.string()),
  role: optional(z.string()),
  content: optional(content),
  call_id: optional(z.string()),
  name: optional(z.string()),
  arguments: optional(z.string()),
  output: optional(content),
  /** Of a custom tool's call. */
  input: optional(z.string()),
});

/** The kinds of items that a prompt is made of. An item without `type` is a message. */
const readItems: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "reasoning",
]);

/** Items of other kinds are kept as they are: their fields of the same names have other types, and are not read. */
export const responsesItem = z
  .looseObject({ type: optional(z.string()) })
  .transform((item, context): ResponsesItem => {
    if (!readItems.has(item.type ?? "message")) return item;
    const result = readItem.safeParse(item);
    if (result.success) return result.data;
    context.issues.push({ ...result.error.issues[0]!, input: item } as z.core.$ZodRawIssue);
    return z.NEVER;
  });

const tool = z.looseObject({
  type: z.string(),
  name: optional(z.string()),
  description: optional(z.string()),
  parameters: optional(z.record(z.string(), z.unknown())),
  /** Of a custom tool. */
  format: optional(
    z.looseObject({
      type: z.string(),
      syntax: optional(z.string()),
      definition: optional(z.string()),
    }),
  ),
});

/** A tool that runs elsewhere can be chosen by its type alone. */
const toolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.looseObject({
    type: z.string(),
    name: optional(z.string()),
    mode: optional(z.enum(["auto", "required"])),
    tools: optional(list(z.looseObject({ name: optional(z.string()) }))),
  }),
]);

const format = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.looseObject({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) }),
]);

export const responsesRequest = z.object({
  model: z.string(),
  input: z.union([z.string(), list(responsesItem)]),
  instructions: optional(z.string()),
  stream: optional(z.boolean()),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  max_output_tokens: optional(z.int().min(1)),
  tools: optional(list(tool)),
  tool_choice: optional(toolChoice),
  parallel_tool_calls: optional(z.boolean()),
  text: optional(z.object({ format: optional(format) })),
  reasoning: optional(z.object({ effort: optional(reasoningEffort) })),
  truncation: optional(z.enum(["auto", "disabled"])),
  metadata: optional(z.record(z.string(), z.unknown())),
  previous_response_id: optional(z.string()),
  store: optional(z.boolean()),
  conversation: optional(z.unknown()),
  /** A text that OpenAI stores. */
  prompt: optional(z.unknown()),
  background: optional(z.boolean()),
  top_logprobs: optional(z.int()),
  /** An extension of locallm, as in the native API. */
  options: optional(z.record(z.string(), z.unknown())),
  keep_alive: optional(z.unknown()),
});

export const inputItemsQuery = z.object({
  limit: optional(z.coerce.number().int().min(1).max(100)),
  order: optional(z.enum(["asc", "desc"])),
  after: optional(z.string()),
});

export type ResponsesRequest = z.output<typeof responsesRequest>;

export interface ResponsesPart {
  [field: string]: unknown;
  type: string;
  text?: string | undefined;
  refusal?: string | undefined;
}

/** An item of input or output. */
export interface ResponsesItem {
  [field: string]: unknown;
  type?: string | undefined;
  role?: string | undefined;
  content?: string | ResponsesPart[] | undefined;
  call_id?: string | undefined;
  name?: string | undefined;
  arguments?: string | undefined;
  output?: string | ResponsesPart[] | undefined;
  input?: string | undefined;
}
