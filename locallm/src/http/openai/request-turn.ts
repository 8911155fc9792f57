import type { ContentPart, Message, Sound, ToolCall, ToolChoice, Turn } from "../../dialogue/turn.ts";
import type { Think } from "../../wire/api/message.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { ChatCompletionsMessage, ChatCompletionsRequest } from "../../wire/openai/chat-completions.ts";
import type { SoundFormat } from "../../wire/sound.ts";
import { contentOf, imageOfUrl, type ReadImage } from "../images.ts";
import { checkedChoice } from "../tool-choice.ts";
import { customInput } from "./responses-tools.ts";

export interface RequestTurn {
  readonly turn: Turn;
  /** Fields that are accepted but have no effect. */
  readonly ignored: readonly string[];
}

/** Converts an OpenAI request to a turn. Tools that are not functions are left out. */
export function requestTurn(body: ChatCompletionsRequest, read: ReadImage): RequestTurn {
  const given = body.messages ?? [];
  if (given.length === 0) throw new LocallmError("messages_empty", {});
  const choice = body.tool_choice;
  const allowed =
    typeof choice === "object" && choice.type === "allowed_tools"
      ? new Set(choice.allowed_tools.tools.map((tool) => tool.function?.name))
      : null;
  const tools = (body.tools ?? [])
    .filter((tool) => tool.type === "function")
    .filter((tool) => allowed === null || allowed.has(tool.function.name));
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
      toolChoice: checkedChoice(toolChoiceOf(choice), tools),
      severalCalls: body.parallel_tool_calls ?? true,
      think: thinkOf(body.reasoning_effort ?? body.reasoning?.effort),
      format: formatOf(body.response_format),
    },
    ignored: typeof choice === "object" && choice.type === "custom" ? [...others, "tool_choice"] : others,
  };
}

function turnMessage(
  message: ChatCompletionsMessage,
  { callNames, read }: { readonly callNames: Map<string, string>; readonly read: ReadImage },
  field: string,
): Message {
  const calls = callsOf(message);
  for (const { id, function: called } of calls) if (id !== undefined) callNames.set(id, called.name);
  const thinking = message.reasoning ?? message.reasoning_content;
  return {
    role: roles[message.role] ?? message.role,
    ...turnContent(message, `${field}.content`, read),
    ...(thinking === undefined ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(message.tool_call_id === undefined ? {} : { tool_call_id: message.tool_call_id }),
    ...(message.role === "tool" || message.role === "function" ? toolName(message, callNames) : {}),
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
      if (part.type === "input_audio" && role === "user")
        return { kind: "sound", sound: soundOf(part.input_audio, `${at}.input_audio`, read) };
      throw new LocallmError("unsupported_parameter", {
        field: `${at}.${part.type}`,
        hint: ": only texts are supported here, images in messages of users and tools, and sounds in those of users",
      });
    }),
  );
}

function soundOf(
  { data, format }: { readonly data: string; readonly format?: SoundFormat | undefined },
  field: string,
  read: ReadImage,
): Sound {
  const sound = read.sound(data, `${field}.data`);
  if (format === undefined || format === sound.format) return sound;
  throw new LocallmError("invalid_field", {
    field: `${field}.format`,
    problem: `says ${format}, but the sound is ${sound.format}`,
  });
}

/** OpenAI's newer and older names for what templates know. */
const roles: Readonly<Record<string, string>> = { developer: "system", function: "tool" };

function callsOf({ tool_calls: calls = [], function_call: older }: ChatCompletionsMessage): ToolCall[] {
  const made = calls.map((call) => ({
    ...(call.id === undefined ? {} : { id: call.id }),
    ...(call.type === "custom"
      ? { name: call.custom.name, arguments: { [customInput]: call.custom.input ?? "" } }
      : { name: call.function.name, arguments: argumentsOf(call.function.arguments ?? "") }),
  }));
  if (older !== undefined && made.length === 0)
    made.push({ name: older.name, arguments: argumentsOf(older.arguments ?? "") });
  return made.map(({ id, ...called }, index) => ({
    ...(id === undefined ? {} : { id }),
    function: { index, ...called },
  }));
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
  if (typeof choice === "string") return { kind: choice };
  switch (choice.type) {
    case "function":
      return { kind: "named", name: choice.function.name };
    case "allowed_tools":
      return { kind: choice.allowed_tools.mode };
    case "custom":
      return { kind: "auto" };
  }
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
