import { z } from "zod";
import { list, optional } from "../body.ts";

/** A function call requested by a model. */
const toolCall = z.object({
  id: optional(z.string()),
  function: z.object({
    index: optional(z.int()),
    name: z.string(),
    arguments: optional(z.record(z.string(), z.unknown())).transform((value) => value ?? {}),
  }),
});

/** Roles that templates support: `developer` for gpt-oss, `control` for Granite, `function` as an older name for `tool`. */
const roles = ["system", "user", "assistant", "tool", "developer", "control", "function"];

/** One message of a conversation. Templates print its role next to control tokens, so only known roles are accepted. */
export const message = z.object({
  role: z.string().toLowerCase().pipe(z.enum(roles)),
  content: optional(z.string()).transform((content) => content ?? ""),
  thinking: optional(z.string()),
  images: optional(list(z.string())),
  tool_calls: optional(list(toolCall)),
  tool_name: optional(z.string()),
  tool_call_id: optional(z.string()),
});

/** A function that the model may call. `parameters` is a JSON schema. */
export const tool = z.object({
  type: optional(z.string()).transform((type) => type ?? "function"),
  function: z.looseObject({
    name: z.string(),
    description: optional(z.string()),
    parameters: optional(z.record(z.string(), z.unknown())),
  }),
});

export const think = z.union([z.boolean(), z.enum(["low", "medium", "high", "max"])]);

export type Think = z.output<typeof think>;
