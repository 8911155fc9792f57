import type { ContentPart, Message, Turn } from "../../dialogue/turn.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { OptionName } from "../../wire/options.ts";
import type { Question } from "../asking.ts";
import type { RemoteTurn, Upstream } from "../engine.ts";
import type { JsonObject } from "../json-body.ts";
import { withCallIds } from "../message-ids.ts";

export interface AnthropicRequest extends Pick<Question, "body" | "optional"> {
  /** The fields of our API that the protocol lacks. */
  readonly ignored: readonly string[];
}

/** The protocol requires a limit. This default is the limit that agents usually set. */
const maxTokensByDefault = 32_000;

export function messagesRequest(
  { model }: Upstream,
  { turn, options, logprobs }: RemoteTurn,
): AnthropicRequest {
  const { system, messages } = conversationOf(turn.messages);
  const wanted = options.num_predict ?? -1;
  const maxTokens = wanted < 0 ? maxTokensByDefault : Math.max(1, wanted);
  const sampling = samplingFields(options);
  const ignored = [...sampling.ignored];
  if (logprobs !== undefined) ignored.push("logprobs");
  if (turn.format?.kind === "json") ignored.push("format");
  const thinking = thinkingField(turn.think, maxTokens);
  if (turn.think !== null && turn.think !== false && thinking === null) ignored.push("think");
  const ours = (name: string) => ({ ours: name });
  return {
    body: {
      ...{ model, max_tokens: maxTokens, messages, stream: true },
      ...(system === "" ? {} : { system }),
      ...sampling.body,
      ...toolFields(turn),
      ...(thinking === null ? {} : { thinking }),
      ...(turn.format?.kind === "schema"
        ? { output_config: { format: { type: "json_schema", schema: turn.format.schema } } }
        : {}),
    },
    optional: {
      // Newer models reject one of these fields, or all of them when thinking is on.
      ...{
        temperature: ours("options.temperature"),
        top_p: ours("options.top_p"),
        top_k: ours("options.top_k"),
      },
      ...{ thinking: ours("think"), output_config: ours("format") },
    },
    ignored,
  };
}

const sampled: Partial<Record<OptionName, (value: never) => JsonObject>> = {
  // The protocol's highest temperature is 1.
  temperature: (value: number) => ({ temperature: Math.min(value, 1) }),
  top_p: (value: number) => ({ top_p: value }),
  top_k: (value: number) => (value <= 0 ? {} : { top_k: value }),
  stop: (value: readonly string[]) => {
    // The protocol rejects stop sequences of white space.
    const usable = value.filter((text) => text.trim() !== "");
    return usable.length === 0 ? {} : { stop_sequences: usable };
  },
  num_predict: () => ({}),
};

function samplingFields(options: RemoteTurn["options"]) {
  const body: JsonObject = {};
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(options) as [OptionName, never][]) {
    const fields = sampled[name]?.(value);
    if (fields === undefined) ignored.push(`options.${name}`);
    else Object.assign(body, fields);
  }
  if ((options.temperature ?? 0) > 1) ignored.push("options.temperature");
  if (options.stop?.some((text) => text.trim() === "")) ignored.push("options.stop");
  return { body, ignored };
}

/** The least that the protocol accepts. */
const leastThinking = 1024;
const budgets = { low: 2048, medium: 8192, high: 16_384, max: 24_576 };

/** Null if the answer's limit leaves no tokens for thinking, or if thinking was not requested. */
function thinkingField(think: Turn["think"], maxTokens: number): JsonObject | null {
  if (think === null) return null;
  if (think === false) return { type: "disabled" };
  if (maxTokens <= leastThinking) return null;
  const wanted = budgets[think === true ? "medium" : think];
  return { type: "enabled", budget_tokens: Math.max(leastThinking, Math.min(wanted, maxTokens >> 1)) };
}

function toolFields({ tools, toolChoice, severalCalls }: Turn): JsonObject {
  if (tools.length === 0) return {};
  const shown = tools.map(({ function: { name, description, parameters } }) => ({
    ...{ name, input_schema: parameters ?? { type: "object", properties: {} } },
    ...(description === undefined ? {} : { description }),
  }));
  const single = severalCalls === false ? { disable_parallel_tool_use: true } : {};
  switch (toolChoice.kind) {
    case "none":
      return { tools: shown, tool_choice: { type: "none" } };
    case "required":
      return { tools: shown, tool_choice: { type: "any", ...single } };
    case "named":
      return { tools: shown, tool_choice: { type: "tool", name: toolChoice.name, ...single } };
    default:
      return {
        tools: shown,
        ...(severalCalls === false ? { tool_choice: { type: "auto", ...single } } : {}),
      };
  }
}

/**
 * The system text is a separate field. A later system message becomes a user message, because the protocol
 * has no other place for it. Omits thinking, because the protocol accepts only thinking that it signed.
 */
function conversationOf(all: readonly Message[]): { system: string; messages: JsonObject[] } {
  const first = all.findIndex(({ role }) => !isSystem(role));
  const leading = first === -1 ? all.length : first;
  const messages: { role: string; content: JsonObject[] }[] = [];
  for (const message of withCallIds(all.slice(leading))) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = blocksOf(message);
    const last = messages.at(-1);
    // The results of one message's calls must be in one message.
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) messages.push({ role, content: blocks });
  }
  const system = all.slice(0, leading).map(({ content }) => content);
  return { system: system.join("\n\n"), messages };
}

function isSystem(role: string): boolean {
  return role === "system" || role === "developer" || role === "control";
}

function blocksOf(message: Message): JsonObject[] {
  const { role, content, parts, tool_calls: calls = [], tool_call_id } = message;
  if (role === "tool" || role === "function")
    return [
      {
        type: "tool_result",
        tool_use_id: tool_call_id,
        content: parts === undefined ? content : contentBlocks(parts),
      },
    ];
  return [
    ...contentBlocks(parts ?? [{ kind: "text", text: content }]),
    ...calls.map(({ id, function: { name, arguments: input } }) => ({ type: "tool_use", id, name, input })),
  ];
}

function contentBlocks(parts: readonly ContentPart[]): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    if (part.kind === "image") {
      const { mediaType: media_type, data } = part.image;
      return [{ type: "image", source: { type: "base64", media_type, data } }];
    }
    if (part.kind === "sound")
      throw new LocallmError("unsupported_parameter", {
        field: part.sound.field ?? "images",
        hint: ": the protocol of the engine that runs this model, Anthropic's, has no sounds",
      });
    // The protocol rejects empty texts.
    return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
  });
}
