import type { ContentPart, Message, ToolChoice, Turn } from "../../dialogue/turn.ts";
import type { Think } from "../../wire/api/message.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { ChatCompletionsMessage, ChatCompletionsRequest } from "../../wire/openai/chat-completions.ts";
import { contentOf, imageOfUrl, type ReadImage } from "../images.ts";
import { checkedChoice } from "../tool-choice.ts";

export interface RequestTurn {
  readonly turn: Turn;
  /** Fields that are accepted but have no effect. */
  readonly ignored: readonly string[];
}

/** Converts an OpenAI request to a turn. Tools that are not functions are left out. */
export function requestTurn(body: ChatCompletionsRequest, read: ReadImage): RequestTurn {
  const given = body.messages ?? [];
  if (given.length === 0) throw new LocallmError("messages_empty", {});
  const tools = (body.tools ?? []).filter((tool) => tool.type === "function");
  const others = (body.tools ?? []).flatMap((tool, index) =>
    tool.type === "function" ? [] : [`tools[${index}].type=${tool.name.slice(0, 40)}`],
  );
  const callNames = new Map<string, string>();
  return {
    turn: {
      messages: given.map((message, index) =>
        turnMessage(message, { callNames, read }, `messages[${index}]`),
      ),
      tools,
      toolChoice: checkedChoice(toolChoiceOf(body.tool_choice), tools),
      severalCalls: body.parallel_tool_calls ?? true,
      think: thinkOf(body.reasoning_effort ?? body.reasoning?.effort),
      format: formatOf(body.response_format),
    },
    ignored: others,
  };
}

function turnMessage(
  message: ChatCompletionsMessage,
  { callNames, read }: { readonly callNames: Map<string, string>; readonly read: ReadImage },
  field: string,
): Message {
  for (const { id, function: called } of message.tool_calls ?? [])
    if (id !== undefined) callNames.set(id, called.name);
  const thinking = message.reasoning ?? message.reasoning_content;
  return {
    role: message.role === "developer" ? "system" : message.role,
    ...turnContent(message, `${field}.content`, read),
    ...(thinking === undefined ? {} : { thinking }),
    ...(message.tool_calls === undefined ? {} : { tool_calls: message.tool_calls.map(turnCall) }),
    ...(message.tool_call_id === undefined ? {} : { tool_call_id: message.tool_call_id }),
    ...(message.role === "tool" ? toolName(message, callNames) : {}),
  };
}

function turnContent({ content = "", role }: ChatCompletionsMessage, field: string, read: ReadImage) {
  if (typeof content === "string") return { content };
  return contentOf(
    content.map((part, index): ContentPart => {
      const at = `${field}[${index}]`;
      if (part.type === "text") return { kind: "text", text: part.text };
      if (part.type === "refusal") return { kind: "text", text: part.refusal };
      if (part.type === "image_url" && (role === "user" || role === "tool"))
        return { kind: "image", image: imageOfUrl(part.image_url.url, `${at}.image_url.url`, read) };
      throw new LocallmError("unsupported_parameter", {
        field: `${at}.${part.type}`,
        hint: ": only texts are supported here, and images in messages of users and tools",
      });
    }),
  );
}

type WireCall = NonNullable<ChatCompletionsMessage["tool_calls"]>[number];

function turnCall(call: WireCall, index: number) {
  return {
    ...(call.id === undefined ? {} : { id: call.id }),
    function: { index, name: call.function.name, arguments: argumentsOf(call.function.arguments ?? "") },
  };
}

/** Returns arguments that are not a JSON object unchanged, because a model wrote them. */
export function argumentsOf(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {}
  return { arguments: text };
}

/** OpenAI's results refer to a call's id, but many templates need the function's name. */
function toolName(message: ChatCompletionsMessage, callNames: ReadonlyMap<string, string>) {
  const name = callNames.get(message.tool_call_id ?? "") ?? message.name;
  return name === undefined ? {} : { tool_name: name };
}

function toolChoiceOf(choice: ChatCompletionsRequest["tool_choice"]): ToolChoice {
  if (choice === undefined) return { kind: "auto" };
  return typeof choice === "string" ? { kind: choice } : { kind: "named", name: choice.function.name };
}

export function thinkOf(effort: ChatCompletionsRequest["reasoning_effort"]): Think | null {
  switch (effort) {
    case undefined:
      return null;
    case "none":
      return false;
    case "minimal":
      return "low";
    case "xhigh":
      return "max";
    default:
      return effort;
  }
}

function formatOf(format: ChatCompletionsRequest["response_format"]): Turn["format"] {
  if (format === undefined || format.type === "text") return null;
  if (format.type === "json_object") return { kind: "json" };
  const { schema } = format.json_schema;
  if (schema === undefined)
    throw new LocallmError("invalid_field", {
      field: "response_format.json_schema.schema",
      problem: "is required",
    });
  return { kind: "schema", schema, field: "response_format.json_schema.schema" };
}
