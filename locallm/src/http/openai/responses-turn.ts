import type { ContentPart, Message, Turn } from "../../dialogue/turn.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { ResponsesItem, ResponsesRequest } from "../../wire/openai/responses.ts";
import { contentOf, imageOfUrl, type ReadImage } from "../images.ts";
import { checkedChoice } from "../tool-choice.ts";
import { argumentsOf, thinkOf } from "./request-turn.ts";
import { customInput, readTools, toolChoiceOf } from "./responses-tools.ts";

export interface ResponsesTurn {
  readonly turn: Turn;
  /** Names of the tools whose calls carry a text instead of arguments. */
  readonly customs: ReadonlySet<string>;
  /** Fields that are accepted but have no effect. */
  readonly ignored: readonly string[];
}

/** Converts the items of earlier responses and the input items, with instructions and tools, to a turn. */
export function responsesTurn(
  body: ResponsesRequest,
  read: ReadImage,
  earlier: readonly ResponsesItem[] = [],
): ResponsesTurn {
  const system = body.instructions === undefined ? [] : [{ role: "system", content: body.instructions }];
  const given = typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input;
  const items: readonly ResponsesItem[] = [...earlier, ...given];
  if (items.length === 0)
    throw new LocallmError("invalid_field", { field: "input", problem: "must not be empty" });
  const { tools, customs, ignored } = readTools(body);
  const { choice, ignored: ignoredChoice } = toolChoiceOf(body.tool_choice);
  const reading = { callNames: new Map<string, string>(), read, ignored: [...ignored, ...ignoredChoice] };
  return {
    turn: {
      messages: [
        ...system,
        ...joined(items.flatMap((item, index) => itemMessage(item, reading, index - earlier.length))),
      ],
      tools,
      toolChoice: checkedChoice(choice, tools),
      severalCalls: body.parallel_tool_calls ?? true,
      think: thinkOf(body.reasoning?.effort),
      format: formatOf(body),
    },
    customs,
    ignored: reading.ignored,
  };
}

interface Reading {
  /** The names of the called functions by the ids of the calls. */
  readonly callNames: Map<string, string>;
  readonly read: ReadImage;
  readonly ignored: string[];
}

/** Returns no message for the call of a tool that ran elsewhere. */
function itemMessage(
  item: ResponsesItem,
  { callNames, read, ignored }: Reading,
  index: number,
): Message | [] {
  const field = `input[${index}]`;
  switch (item.type ?? (item.role === undefined && "id" in item ? "item_reference" : "message")) {
    case "item_reference":
      throw new LocallmError("unsupported_parameter", {
        field: `${field}.type`,
        hint: ': "item_reference"; send the item itself, or continue with previous_response_id',
      });
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
    case "custom_tool_call":
    case "function_call": {
      const { name, call_id: id } = item;
      if (name === undefined)
        throw new LocallmError("invalid_field", { field: `${field}.name`, problem: "is required" });
      if (id !== undefined) callNames.set(id, name);
      const call = {
        ...(id === undefined ? {} : { id }),
        function: {
          index: 0,
          name,
          arguments:
            item.type === "function_call"
              ? argumentsOf(item.arguments ?? "")
              : { [customInput]: item.input ?? "" },
        },
      };
      return { role: "assistant", content: "", tool_calls: [call] };
    }
    case "custom_tool_call_output":
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
      if (ranElsewhere.test(item.type ?? "")) {
        ignored.push(`${field}.type=${String(item.type).slice(0, 40)}`);
        return [];
      }
      throw new LocallmError("unsupported_parameter", {
        field: `${field}.type`,
        hint: `: "${String(item.type).slice(0, 60)}"`,
      });
  }
}

/** Items that clients send back without needing them: calls of tools that are left out, and their results. */
const ranElsewhere =
  /^mcp_|_call(_output)?$|^(compaction|program|tool_search_output|additional_tools|configuration_update)/;

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

function formatOf(body: ResponsesRequest): Turn["format"] {
  const format = body.text?.format;
  if (format === undefined || format.type === "text") return null;
  return format.type === "json_object"
    ? { kind: "json" }
    : { kind: "schema", schema: format.schema, field: "text.format.schema" };
}
