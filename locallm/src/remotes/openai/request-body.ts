import type { ContentPart, Message, Turn } from "../../dialogue/turn.ts";
import type { OptionName } from "../../wire/options.ts";
import type { Question } from "../asking.ts";
import type { RemoteCompletion, RemoteOptions, RemoteTurn, Upstream } from "../engine.ts";
import type { JsonObject } from "../json-body.ts";
import { withCallIds } from "../message-ids.ts";
import type { Wish } from "./kinds.ts";

/** A request, and its options by their names in our API. */
export interface OpenAiRequest extends Pick<Question, "body" | "optional"> {
  /** The options that the request contains and the engine obeys. */
  readonly said: readonly Wish[];
  /** The fields of our API that the protocol lacks. */
  readonly ignored: readonly string[];
}

export function chatBody({ model }: Upstream, { turn, options, logprobs }: RemoteTurn): OpenAiRequest {
  const sampling = samplingFields(options, "options");
  const thinking = thinkingFields(turn.think);
  const format = formatField(turn.format);
  const tools = toolFields(turn);
  const body = {
    ...{ model, messages: openAiMessages(withCallIds(turn.messages)) },
    ...streamed,
    ...sampling.body,
    ...thinking,
    ...format,
    ...tools,
    ...(logprobs === undefined ? {} : { logprobs: true, top_logprobs: logprobs.top }),
  };
  const said: Wish[] = [...sampling.said];
  if (turn.think !== null) said.push("think");
  if (turn.format !== null) said.push("format");
  if ("tool_choice" in tools && turn.toolChoice.kind !== "none") said.push("tool_choice");
  if ("parallel_tool_calls" in tools) said.push("parallel_tool_calls");
  if (logprobs !== undefined) said.push("logprobs");
  const ours = (name: string) => ({ ours: name });
  return {
    body,
    said,
    ignored: sampling.ignored,
    optional: {
      ...sampling.optional,
      stream_options: ours(usage),
      chat_template_kwargs: ours("think"),
      // vLLM before 0.11 does not accept "none"; chat_template_kwargs has the same effect.
      reasoning_effort: ours("think"),
      parallel_tool_calls: ours("parallel_tool_calls"),
      logprobs: ours("logprobs"),
      top_logprobs: ours("logprobs"),
      response_format:
        turn.format?.kind === "schema"
          ? // vLLM before 0.6.
            { ours: "format", instead: { guided_json: turn.format.schema } }
          : ours("format"),
      guided_json: ours("format"),
    },
  };
}

export function completionBody({ model }: Upstream, ask: RemoteCompletion): OpenAiRequest {
  const sampling = samplingFields(ask.options, "options");
  const body = {
    ...{ model, prompt: ask.prompt },
    // Without it, the protocol's default is 16 tokens.
    ...{ max_tokens: null },
    ...streamed,
    ...sampling.body,
    ...(ask.suffix === undefined ? {} : { suffix: ask.suffix }),
    ...(ask.logprobs === undefined ? {} : { logprobs: Math.max(1, ask.logprobs.top) }),
  };
  return {
    body,
    said: [...sampling.said, ...(ask.logprobs === undefined ? [] : ["logprobs" as const])],
    ignored: sampling.ignored,
    optional: { ...sampling.optional, stream_options: { ours: usage }, logprobs: { ours: "logprobs" } },
  };
}

/** A field that only our counters need: leaving it out changes no answer. */
export const usage = "usage";

const streamed = { stream: true, stream_options: { include_usage: true } };

/** OpenAI's names, then those that most engines share, then llama-server's. */
const optionFields: Partial<Record<OptionName, (value: never) => JsonObject>> = {
  temperature: (value: number) => ({ temperature: value }),
  top_p: (value: number) => ({ top_p: value }),
  presence_penalty: (value: number) => ({ presence_penalty: value }),
  frequency_penalty: (value: number) => ({ frequency_penalty: value }),
  logit_bias: (value: JsonObject) => ({ logit_bias: value }),
  stop: (value: readonly string[]) => (value.length === 0 ? {} : { stop: value }),
  // -1 asks for a random seed.
  seed: (value: number) => (value === -1 ? {} : { seed: value }),
  // Every engine computes the prompt and at least one token; the token is not passed on.
  num_predict: (value: number) => (value < 0 ? {} : { max_tokens: Math.max(1, value) }),
  // 0 turns it off for us, -1 for vLLM and SGLang, both for llama-server.
  top_k: (value: number) => ({ top_k: value <= 0 ? -1 : value }),
  min_p: (value: number) => ({ min_p: value }),
  // vLLM, SGLang and TGI have the first field, llama-server and LM Studio the second. 0 means no penalty in
  // our API, but is an error in theirs.
  repeat_penalty: (value: number) => ({ repetition_penalty: value || 1, repeat_penalty: value || 1 }),
  typical_p: (value: number) => ({ typical_p: value }),
  repeat_last_n: (value: number) => ({ repeat_last_n: value }),
  mirostat: (value: number) => ({ mirostat: value }),
  mirostat_tau: (value: number) => ({ mirostat_tau: value }),
  mirostat_eta: (value: number) => ({ mirostat_eta: value }),
  lora: (value: readonly object[]) => ({ lora: value }),
  min_keep: (value: number) => ({ min_keep: value }),
  xtc_probability: (value: number) => ({ xtc_probability: value }),
  xtc_threshold: (value: number) => ({ xtc_threshold: value }),
  dry_multiplier: (value: number) => ({ dry_multiplier: value }),
  dry_base: (value: number) => ({ dry_base: value }),
  dry_allowed_length: (value: number) => ({ dry_allowed_length: value }),
  dry_penalty_last_n: (value: number) => ({ dry_penalty_last_n: value }),
  dry_sequence_breakers: (value: readonly string[]) => ({ dry_sequence_breakers: value }),
  num_keep: (value: number) => ({ n_keep: value }),
};

function samplingFields(options: RemoteOptions, at: "options") {
  const body: JsonObject = {};
  const optional: Record<string, { ours: string; instead?: JsonObject }> = {};
  const said: Wish[] = [];
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(options) as [OptionName, never][]) {
    const fields = optionFields[name]?.(value);
    if (fields === undefined) {
      ignored.push(`${at}.${name}`);
      continue;
    }
    if (Object.keys(fields).length === 0) continue;
    said.push(`${at}.${name}`);
    Object.assign(body, fields);
    for (const field of Object.keys(fields)) optional[field] = { ours: `${at}.${name}` };
  }
  const { max_tokens } = body;
  // OpenAI's reasoning models.
  if (max_tokens !== undefined)
    optional["max_tokens"] = { ours: "options.num_predict", instead: { max_completion_tokens: max_tokens } };
  return { body, optional, said, ignored };
}

/**
 * Qwen, GLM and Granite read `enable_thinking`, DeepSeek and Granite `thinking`; gpt-oss, OpenAI, Ollama's `/v1` and
 * locallm read the effort. An engine or a template ignores what it does not know.
 */
function thinkingFields(think: Turn["think"]): JsonObject {
  if (think === null) return {};
  const isOn = think !== false;
  return {
    chat_template_kwargs: { enable_thinking: isOn, thinking: isOn },
    reasoning_effort: efforts[String(think)],
  };
}

const efforts: Readonly<Record<string, string>> = {
  ...{ false: "none", true: "medium", low: "low", medium: "medium", high: "high", max: "high" },
};

function formatField(format: Turn["format"]): JsonObject {
  if (format === null) return {};
  if (format.kind === "json") return { response_format: { type: "json_object" } };
  const json_schema = { name: "answer", schema: format.schema, strict: true };
  return { response_format: { type: "json_schema", json_schema } };
}

function toolFields({ tools, toolChoice, severalCalls }: Turn): JsonObject {
  if (tools.length === 0) return {};
  const choice =
    toolChoice.kind === "named"
      ? { tool_choice: { type: "function", function: { name: toolChoice.name } } }
      : toolChoice.kind === "auto"
        ? {}
        : { tool_choice: toolChoice.kind };
  return { tools, ...choice, ...(severalCalls === false ? { parallel_tool_calls: false } : {}) };
}

/** Only messages of users have images, so those of results become part of the user's message after the results. */
function openAiMessages(messages: readonly Message[]): JsonObject[] {
  const all: JsonObject[] = [];
  let held: JsonObject[] = [];
  const flush = () => {
    if (held.length > 0) all.push({ role: "user", content: held });
    held = [];
  };
  for (const message of messages) {
    const { role, content, parts } = message;
    const isResult = role === "tool" || role === "function";
    if (role === "user" && (parts !== undefined || held.length > 0)) {
      held.push(...openAiParts(parts ?? [{ kind: "text", text: content }]));
      flush();
      continue;
    }
    if (!isResult) flush();
    all.push(openAiMessage(message));
    const images = parts?.filter(({ kind }) => kind !== "text") ?? [];
    if (images.length > 0)
      held.push(
        { type: "text", text: `Images in the result of ${message.tool_call_id}:` },
        ...openAiParts(images),
      );
  }
  flush();
  return all;
}

function openAiParts(parts: readonly ContentPart[]): JsonObject[] {
  return parts.map((part) =>
    part.kind === "text"
      ? { type: "text", text: part.text }
      : part.kind === "sound"
        ? { type: "input_audio", input_audio: { data: part.sound.data, format: part.sound.format } }
        : { type: "image_url", image_url: { url: `data:${part.image.mediaType};base64,${part.image.data}` } },
  );
}

function openAiMessage(message: Message): JsonObject {
  const { role, content, thinking, tool_calls: calls, tool_call_id, tool_name } = message;
  switch (role) {
    case "tool":
    case "function":
      return { role: "tool", content, tool_call_id, ...(tool_name === undefined ? {} : { name: tool_name }) };
    case "assistant":
      return {
        ...{ role, content },
        // vLLM and Ollama read `reasoning`; SGLang, llama-server and DeepSeek `reasoning_content`.
        ...(thinking ? { reasoning: thinking, reasoning_content: thinking } : {}),
        ...(calls === undefined || calls.length === 0 ? {} : { tool_calls: calls.map(openAiCall) }),
      };
    // Not every template has the newer role.
    case "developer":
      return { role: "system", content };
    default:
      return { role, content };
  }
}

function openAiCall({ id, function: called }: NonNullable<Message["tool_calls"]>[number]): JsonObject {
  const { name, arguments: values } = called;
  return { id, type: "function", function: { name, arguments: JSON.stringify(values) } };
}
