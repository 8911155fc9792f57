import type { ContentPart, Message, Tool, ToolChoice, Turn } from "../../dialogue/turn.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { ResponsesItem, ResponsesRequest } from "../../wire/openai/responses.ts";
import { contentOf, imageOfUrl, type ReadImage } from "../images.ts";
import { checkedChoice } from "../tool-choice.ts";
import { argumentsOf, thinkOf } from "./request-turn.ts";

/** Converts the items of earlier responses and the input items, with instructions and tools, to a turn. */
export function responsesTurn(
  body: ResponsesRequest,
  read: ReadImage,
  earlier: readonly ResponsesItem[] = [],
): Turn {
  const system = body.instructions === undefined ? [] : [{ role: "system", content: body.instructions }];
  const given = typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input;
  const items: readonly ResponsesItem[] = [...earlier, ...given];
  if (items.length === 0)
    throw new LocallmError("invalid_field", { field: "input", problem: "must not be empty" });
  const tools = (body.tools ?? []).map(functionTool);
  const reading = { callNames: new Map<string, string>(), read };
  return {
    messages: [
      ...system,
      ...joined(items.map((item, index) => itemMessage(item, reading, index - earlier.length))),
    ],
    tools,
    toolChoice: checkedChoice(toolChoiceOf(body.tool_choice), tools),
    severalCalls: body.parallel_tool_calls ?? true,
    think: thinkOf(body.reasoning?.effort),
    format: formatOf(body),
  };
}

interface Reading {
  /** The names of the called functions by the ids of the calls. */
  readonly callNames: Map<string, string>;
  readonly read: ReadImage;
}

function itemMessage(item: ResponsesItem, { callNames, read }: Reading, index: number): Message {
  const field = `input[${index}]`;
  switch (item.type ?? "message") {
    case "message": {
      const role = item.role ?? "";
      if (!["system", "developer", "user", "assistant"].includes(role))
        throw new LocallmError("invalid_field", {
          field: `${field}.role`,
          problem: "must be system, developer, user or assistant",
        });
      return {
        role: role === "developer" ? "system" : role,
        ...itemContent(item.content, `${field}.content`, role === "user" ? read : null),
      };
    }
    case "function_call": {
      const { name, call_id: id } = item;
      if (name === undefined)
        throw new LocallmError("invalid_field", { field: `${field}.name`, problem: "is required" });
      if (id !== undefined) callNames.set(id, name);
      const call = {
        ...(id === undefined ? {} : { id }),
        function: { index: 0, name, arguments: argumentsOf(item.arguments ?? "") },
      };
      return { role: "assistant", content: "", tool_calls: [call] };
    }
    case "function_call_output": {
      const id = item.call_id ?? "";
      const name = callNames.get(id);
      const content = itemContent(item.output, `${field}.output`, read);
      return {
        ...{ role: "tool", ...content, tool_call_id: id },
        ...(name === undefined ? {} : { tool_name: name }),
      };
    }
    case "reasoning":
      return {
        role: "assistant",
        content: "",
        thinking: itemContent(item.content, `${field}.content`, null).content,
      };
    default:
      throw new LocallmError("unsupported_parameter", {
        field: `${field}.type`,
        hint: `: "${String(item.type).slice(0, 60)}"`,
      });
  }
}

/** Joins the items of one turn (thinking, text, calls) into one message. */
function joined(messages: readonly Message[]): Message[] {
  const all: Message[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    const calls = [...(last?.tool_calls ?? []), ...(message.tool_calls ?? [])];
    if (
      last?.role === "assistant" &&
      message.role === "assistant" &&
      !(last.tool_calls && message.content !== "")
    )
      all[all.length - 1] = {
        role: "assistant",
        content: [last.content, message.content].filter((text) => text !== "").join("\n\n"),
        ...(last.thinking || message.thinking
          ? { thinking: [last.thinking, message.thinking].filter(Boolean).join("\n") }
          : {}),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      };
    else all.push(message);
  }
  return all;
}

/** `read` is null where the protocol has no images. */
function itemContent(content: ResponsesItem["content"], field: string, read: ReadImage | null) {
  if (content === undefined || typeof content === "string") return { content: content ?? "" };
  return contentOf(
    content.map((part, index): ContentPart => {
      const at = `${field}[${index}]`;
      const text = part.text ?? part.refusal;
      if (text !== undefined) return { kind: "text", text };
      const url = part["image_url"];
      if (part.type === "input_image" && read !== null && typeof url === "string")
        return { kind: "image", image: imageOfUrl(url, `${at}.image_url`, read) };
      throw new LocallmError("unsupported_parameter", {
        field: at,
        hint: `: "${part.type.slice(0, 60)}"; only texts are supported here, and images with image_url in messages of users and results of functions`,
      });
    }),
  );
}

function functionTool(tool: NonNullable<ResponsesRequest["tools"]>[number], index: number): Tool {
  if (tool.type !== "function")
    throw new LocallmError("unsupported_parameter", {
      field: `tools[${index}].type`,
      hint: `: "${tool.type.slice(0, 60)}"; only functions are supported`,
    });
  if (tool.name === undefined)
    throw new LocallmError("invalid_field", { field: `tools[${index}].name`, problem: "is required" });
  const { name, description, parameters } = tool;
  return {
    type: "function",
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
    },
  };
}

function toolChoiceOf(choice: ResponsesRequest["tool_choice"]): ToolChoice {
  if (choice === undefined) return { kind: "auto" };
  return typeof choice === "string" ? { kind: choice } : { kind: "named", name: choice.name };
}

function formatOf(body: ResponsesRequest): Turn["format"] {
  const format = body.text?.format;
  if (format === undefined || format.type === "text") return null;
  return format.type === "json_object"
    ? { kind: "json" }
    : { kind: "schema", schema: format.schema, field: "text.format.schema" };
}
