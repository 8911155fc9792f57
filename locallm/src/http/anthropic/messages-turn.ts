import type { ContentPart, Image, Message, Tool, ToolChoice, Turn } from "../../dialogue/turn.ts";
import {
  block as anyBlock,
  base64Source,
  type ConversationRequest,
  documentBlock,
  imageBlock,
  searchResultBlock,
  textBlock,
  thinkingBlock,
  toolReferenceBlock,
  toolResultBlock,
  toolUseBlock,
} from "../../wire/anthropic/messages.ts";
import { checkPart } from "../../wire/body.ts";
import { LocallmError } from "../../wire/errors.ts";
import { contentOf, imageOfUrl, type ReadImage, requireMediaType } from "../images.ts";
import { checkedChoice } from "../tool-choice.ts";
import { thinkingOf } from "./signature.ts";

export interface MessagesTurn {
  readonly turn: Turn;
  /** Fields that are accepted but have no effect. */
  readonly ignored: readonly string[];
}

/** Converts an Anthropic request to a turn. */
export function messagesTurn(body: ConversationRequest, read: ReadImage): MessagesTurn {
  const reading = new ConversationReading(read);
  const system = reading.system(body.system);
  const messages = body.messages.flatMap((message, index) =>
    reading.message(message, `messages[${index}]`, index === body.messages.length - 1),
  );
  if (messages.length === 0)
    throw new LocallmError("invalid_field", { field: "messages", problem: "must contain text" });
  const { tools, ignored } = offered(body, reading.foundTools);
  return {
    turn: {
      messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...messages],
      tools,
      toolChoice: checkedChoice(toolChoiceOf(body.tool_choice), tools),
      severalCalls: body.tool_choice?.disable_parallel_tool_use !== true,
      think: thinkOf(body, messages),
      format: formatOf(body),
    },
    ignored: [
      ...reading.ignored,
      ...ignored,
      ...ignoredEdits(body),
      ...(body.thinking?.budget_tokens ? ["thinking.budget_tokens"] : []),
    ],
  };
}

interface Block {
  readonly type: string;
  readonly value: unknown;
  readonly field: string;
}

/** Reads the messages in order, because results refer to earlier calls. */
class ConversationReading {
  /** Names of tools that the client's search has found. */
  readonly foundTools = new Set<string>();
  /** Blocks without effect. */
  readonly ignored: string[] = [];
  readonly #readImage: ReadImage;
  readonly #callNames = new Map<string, string>();

  constructor(read: ReadImage) {
    this.#readImage = read;
  }

  /**
   * Returns the system prompt without the line that changes with each request, because that line would make
   * the cache useless.
   */
  system(given: unknown): string {
    if (given === undefined) return "";
    return this.#texts(given, "system")
      .map((text) => text.replace(/^x-anthropic-billing-header:[^\n]*(\n+|$)/i, ""))
      .filter((text) => text !== "")
      .join("\n");
  }

  message(
    { role, content }: ConversationRequest["messages"][number],
    field: string,
    isLast: boolean,
  ): Message[] {
    const blocks = blocksOf(content, `${field}.content`);
    // Only the beginning of the answer may be empty.
    if (blocks.length === 0 && !(isLast && role === "assistant"))
      throw new LocallmError("invalid_field", { field: `${field}.content`, problem: "must not be empty" });
    switch (role) {
      case "system":
        return [{ role, content: this.#texts(content, `${field}.content`).join("\n") }];
      case "assistant":
        return this.#assistant(blocks);
      case "user":
        return this.#user(blocks);
    }
  }

  #assistant(blocks: readonly Block[]): Message[] {
    const texts: string[] = [];
    const thoughts: string[] = [];
    const calls: NonNullable<Message["tool_calls"]>[number][] = [];
    for (const { type, value, field } of blocks) {
      switch (type) {
        case "text":
          texts.push(checkPart(textBlock, value, field).text);
          break;
        case "thinking":
          thoughts.push(thinkingOf(checkPart(thinkingBlock, value, field)));
          break;
        case "redacted_thinking":
          // Only Anthropic can read this block.
          break;
        case "tool_use": {
          const { id, name, input = {} } = checkPart(toolUseBlock, value, field);
          this.#callNames.set(id, name);
          calls.push({ id, function: { index: calls.length, name, arguments: input } });
          break;
        }
        default:
          if (!ranElsewhere.test(type)) throw unknownBlock(type, field);
          this.ignored.push(`${field}.type=${type.slice(0, 40)}`);
      }
    }
    const content = texts.join("\n");
    const thinking = thoughts.filter((thought) => thought !== "").join("\n");
    if (content === "" && thinking === "" && calls.length === 0) return [];
    return [
      {
        role: "assistant",
        content,
        ...(thinking === "" ? {} : { thinking }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
    ];
  }

  #user(blocks: readonly Block[]): Message[] {
    const messages: Message[] = [];
    let parts: ContentPart[] = [];
    const flush = () => {
      if (parts.length > 0) messages.push({ role: "user", ...contentOf(parts) });
      parts = [];
    };
    for (const each of blocks) {
      if (each.type === "tool_result") {
        flush();
        messages.push(this.#result(each));
      } else parts.push(...this.#input(each));
    }
    flush();
    return messages;
  }

  #result({ value, field }: Block): Message {
    const { tool_use_id: id, content, is_error: isError } = checkPart(toolResultBlock, value, field);
    const name = this.#callNames.get(id);
    if (name === undefined)
      throw new LocallmError("invalid_field", {
        field: `${field}.tool_use_id`,
        problem: "does not match the id of a tool_use block before it",
      });
    const blocks = content === undefined ? [] : blocksOf(content, `${field}.content`);
    const parts = blocks.flatMap((each) => this.#input(each));
    const { content: text } = contentOf(parts);
    // Templates have no field for errors, and a model must not mistake an error for a result.
    const isUnmarked = isError === true && !/^\W*error/i.test(text);
    return {
      role: "tool",
      ...contentOf(isUnmarked ? markedAsError(parts) : parts),
      tool_call_id: id,
      tool_name: name,
    };
  }

  /** The texts and images of a block that users and tools send. */
  #input(block: Block): ContentPart[] {
    if (block.type === "image") return [{ kind: "image", image: this.#image(block) }];
    return this.#inputTexts(block).map((text) => ({ kind: "text", text }));
  }

  #image({ value, field }: Block): Image {
    const { source } = checkPart(imageBlock, value, field);
    if (source.type === "url" && typeof source["url"] === "string")
      return imageOfUrl(source["url"], `${field}.source.url`, this.#readImage);
    if (source.type !== "base64")
      throw new LocallmError("unsupported_parameter", {
        field: `${field}.source.type`,
        hint: `: "${source.type.slice(0, 60)}"; send the image as base64`,
      });
    const { media_type: said, data } = checkPart(base64Source, source, `${field}.source`);
    const image = this.#readImage(data, `${field}.source.data`);
    requireMediaType(image, said, `${field}.source.media_type`);
    return image;
  }

  #inputTexts({ type, value, field }: Block): string[] {
    switch (type) {
      case "text":
        return [checkPart(textBlock, value, field).text];
      case "document":
        return this.#document(value, field);
      case "search_result": {
        const { title, source, content } = checkPart(searchResultBlock, value, field);
        const head = [title, source].filter((text) => text !== undefined);
        return [...head, ...this.#texts(content ?? "", `${field}.content`)];
      }
      case "tool_reference": {
        const { tool_name: name } = checkPart(toolReferenceBlock, value, field);
        this.foundTools.add(name);
        return [`The tool ${name} can be called now.`];
      }
      default:
        throw unknownBlock(type, field);
    }
  }

  #document(value: unknown, field: string): string[] {
    const { title, context, source } = checkPart(documentBlock, value, field);
    const head = [title, context].filter((text) => text !== undefined);
    if (source.type === "text") return [...head, source.data ?? ""];
    if (source.type === "content")
      return [...head, ...this.#texts(source.content, `${field}.source.content`)];
    throw new LocallmError("unsupported_parameter", {
      field: `${field}.source.type`,
      hint: `: "${source.type.slice(0, 60)}"; send the document's text`,
    });
  }

  /** Reads a text, or a list of text blocks only. */
  #texts(content: unknown, field: string): string[] {
    return blocksOf(content, field).map((each) => {
      if (each.type !== "text") throw unknownBlock(each.type, each.field);
      return checkPart(textBlock, each.value, each.field).text;
    });
  }
}

/**
 * Blocks of an answer that clients send back without needing them: what ran at Anthropic, and notes of its
 * servers.
 */
const ranElsewhere = /^(server|mcp)_tool_use$|_tool_(result|listing)$|^(compaction|fallback)$/;

function blocksOf(content: unknown, field: string): Block[] {
  if (typeof content === "string")
    return content === "" ? [] : [{ type: "text", value: { text: content }, field }];
  if (!Array.isArray(content))
    throw new LocallmError("invalid_field", {
      field,
      problem: content === undefined || content === null ? "is required" : "must be a string or an array",
    });
  return content.map((value: unknown, index) => {
    const at = `${field}[${index}]`;
    return { type: checkPart(anyBlock, value, at).type, value, field: at };
  });
}

function markedAsError([first, ...rest]: readonly ContentPart[]): ContentPart[] {
  return first?.kind === "text"
    ? [{ kind: "text", text: `Error: ${first.text}` }, ...rest]
    : [{ kind: "text", text: "Error: " }, ...(first === undefined ? [] : [first]), ...rest];
}

function unknownBlock(type: string, field: string): LocallmError {
  return new LocallmError("unsupported_parameter", {
    field: `${field}.type`,
    hint: `: "${type.slice(0, 60)}"`,
  });
}

/**
 * Returns the tools, except those that only a search may add, and those that Anthropic's servers run, such as
 * `web_search_20250305`: they have no `input_schema`, and programs offer them without needing them.
 */
function offered(
  { tools = [], tool_choice: choice }: ConversationRequest,
  found: ReadonlySet<string>,
): { readonly tools: Tool[]; readonly ignored: string[] } {
  const names = new Set<string>();
  const ignored: string[] = [];
  const own = tools.flatMap((tool, index): Tool[] => {
    const field = `tools[${index}]`;
    if (tool.type !== undefined && tool.type !== "custom" && tool.input_schema === undefined) {
      ignored.push(`${field}.type=${tool.type.slice(0, 40)}`);
      return [];
    }
    const { name, description, input_schema: parameters, defer_loading: isDeferred } = tool;
    if (name === undefined)
      throw new LocallmError("invalid_field", { field: `${field}.name`, problem: "is required" });
    if (names.has(name))
      throw new LocallmError("invalid_field", { field: `${field}.name`, problem: "must be unique" });
    names.add(name);
    if (parameters === undefined)
      throw new LocallmError("invalid_field", { field: `${field}.input_schema`, problem: "is required" });
    if (isDeferred === true && !found.has(name) && choice?.name !== name) return [];
    const described = description === undefined ? {} : { description };
    return [{ type: "function", function: { name, ...described, parameters } }];
  });
  return { tools: own, ignored };
}

function toolChoiceOf(choice: ConversationRequest["tool_choice"]): ToolChoice {
  switch (choice?.type) {
    case "any":
      return { kind: "required" };
    case "tool":
      if (choice.name === undefined)
        throw new LocallmError("invalid_field", { field: "tool_choice.name", problem: "is required" });
      return { kind: "named", name: choice.name };
    case "none":
      return { kind: "none" };
    default:
      return { kind: "auto" };
  }
}

/** As in Anthropic's API, a model thinks only if the request says so. */
function thinkOf(
  { thinking, output_config }: ConversationRequest,
  messages: readonly Message[],
): Turn["think"] {
  const effort = output_config?.effort;
  const isOn =
    thinking?.type === "between_tools"
      ? messages.at(-1)?.role === "tool"
      : thinking !== undefined && thinking.type !== "disabled";
  if (!isOn) return false;
  return effort === undefined ? true : effort === "xhigh" ? "max" : effort;
}

function formatOf({ output_config }: ConversationRequest): Turn["format"] {
  const format = output_config?.format;
  if (format === undefined) return null;
  return { kind: "schema", schema: format.schema, field: "output_config.format.schema" };
}

/**
 * Returns edits that are ignored. The model's template decides how much of the earlier thinking is kept, and
 * other edits would change the prompt.
 */
function ignoredEdits({ context_management: management }: ConversationRequest): string[] {
  return (management?.edits ?? []).flatMap((edit, index) => {
    const field = `context_management.edits[${index}]`;
    if (edit.type !== "clear_thinking_20251015")
      throw new LocallmError("unsupported_parameter", {
        field: `${field}.type`,
        hint: `: "${edit.type.slice(0, 60)}"`,
      });
    return edit["keep"] === "all" ? [] : [field];
  });
}
