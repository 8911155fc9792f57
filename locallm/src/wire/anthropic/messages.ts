import { z } from "zod";
import { list, optional } from "../body.ts";
import { mediaTypes } from "../image.ts";

/** `content` is a text or a list of blocks. The kinds of blocks are checked one by one, so that errors name the block. */
const message = z.object({ role: z.enum(["user", "assistant", "system"]), content: z.unknown() });

/** The most messages that Anthropic accepts. */
const mostMessages = 100_000;

/**
 * The object is not strict, because Anthropic's own tools have other fields. A tool without `type` is the
 * client's own.
 */
const tool = z.looseObject({
  type: optional(z.string()),
  name: optional(z.string().min(1).max(128)),
  description: optional(z.string()),
  input_schema: optional(z.record(z.string(), z.unknown())),
  defer_loading: optional(z.boolean()),
});

const toolChoice = z.object({
  type: z.enum(["auto", "any", "tool", "none"]),
  name: optional(z.string()),
  disable_parallel_tool_use: optional(z.boolean()),
});

const thinking = z.object({
  type: z.enum(["enabled", "disabled", "adaptive", "between_tools"]),
  budget_tokens: optional(z.int().min(1)),
  /** Only `omitted` has an effect. */
  display: optional(z.string()),
});

const outputFormat = z.looseObject({
  type: z.literal("json_schema"),
  schema: z.record(z.string(), z.unknown()),
});

/** The fields that determine the prompt. They are the same for messages and for counting tokens. */
const conversation = {
  model: z.string(),
  messages: list(message, { min: 1, max: mostMessages }),
  system: optional(z.unknown()),
  tools: optional(list(tool)),
  tool_choice: optional(toolChoice),
  thinking: optional(thinking),
  output_config: optional(
    z.looseObject({
      effort: optional(z.enum(["low", "medium", "high", "xhigh", "max"])),
      format: optional(outputFormat),
    }),
  ),
  context_management: optional(
    z.looseObject({ edits: optional(z.array(z.looseObject({ type: z.string() }))) }),
  ),
  mcp_servers: optional(z.array(z.unknown())),
  container: optional(z.unknown()),
  /** Accepted without effect, because everything is cached anyway. */
  cache_control: optional(z.unknown()),
  /** An extension of locallm, as in the native API. */
  options: optional(z.record(z.string(), z.unknown())),
  keep_alive: optional(z.unknown()),
};

export const countTokensRequest = z.object(conversation);

export const messagesRequest = z.object({
  ...conversation,
  /** 0 only computes the prompt, so that later requests find it in the cache. */
  max_tokens: z.int().min(0),
  stream: optional(z.boolean()),
  temperature: optional(z.number().min(0).max(1)),
  top_p: optional(z.number().min(0).max(1)),
  top_k: optional(z.int().min(0)),
  stop_sequences: optional(z.array(z.string()).max(64)),
  metadata: optional(z.looseObject({ user_id: optional(z.string()) })),
  service_tier: optional(z.string()),
});

export type ConversationRequest = z.output<typeof countTokensRequest>;

/** A block of any kind. The code that reads a block decides which kinds are allowed there. */
export const block = z.looseObject({ type: z.string() });

export const textBlock = z.object({ text: z.string() });

export const thinkingBlock = z.object({ thinking: z.string(), signature: optional(z.string()) });

export const toolUseBlock = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  input: optional(z.record(z.string(), z.unknown())),
});

export const toolResultBlock = z.object({
  tool_use_id: z.string(),
  content: optional(z.unknown()),
  is_error: optional(z.boolean()),
});

export const imageBlock = z.object({ source: z.looseObject({ type: z.string() }) });

export const base64Source = z.object({
  media_type: z.enum(mediaTypes),
  data: z.string(),
});

export const searchResultBlock = z.object({
  title: optional(z.string()),
  source: optional(z.string()),
  content: optional(z.unknown()),
});

export const documentBlock = z.object({
  title: optional(z.string()),
  context: optional(z.string()),
  source: z.looseObject({ type: z.string(), data: optional(z.string()), content: optional(z.unknown()) }),
});

export const toolReferenceBlock = z.object({ tool_name: z.string() });

/**
 * The query of `GET /v1/models`: the maximum number of models, and the model before or after which the page
 * starts.
 */
export const modelsQuery = z.object({
  limit: optional(z.coerce.number().int().min(1).max(1000)),
  after_id: optional(z.string()),
  before_id: optional(z.string()),
});
