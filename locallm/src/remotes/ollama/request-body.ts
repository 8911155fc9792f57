import type { Message, Turn } from "../../dialogue/turn.ts";
import type { Question } from "../asking.ts";
import type { RemoteCompletion, RemoteTurn, Upstream } from "../engine.ts";
import type { JsonObject } from "../json-body.ts";

export interface OllamaRequest extends Pick<Question, "path" | "body"> {
  /** The fields of our API that the protocol lacks. */
  readonly ignored: readonly string[];
}

export function chatRequest({ model }: Upstream, { turn, options, logprobs }: RemoteTurn): OllamaRequest {
  const { tools, toolChoice, severalCalls, think, format } = turn;
  // The protocol has no tool_choice: without tools, no call is made.
  const isOffered = tools.length > 0 && toolChoice.kind !== "none";
  const isForced = toolChoice.kind === "required" || toolChoice.kind === "named";
  return {
    path: "/api/chat",
    body: {
      ...{ model, messages: turn.messages.map(ollamaMessage), stream: true, options },
      ...(isOffered ? { tools } : {}),
      ...(think === null ? {} : { think }),
      ...(format === null ? {} : { format: formatOf(format) }),
      ...logprobsFields(logprobs),
    },
    ignored: [
      ...(isOffered && isForced ? ["tool_choice"] : []),
      ...(isOffered && severalCalls === false ? ["parallel_tool_calls"] : []),
    ],
  };
}

export function generateRequest({ model }: Upstream, ask: RemoteCompletion): OllamaRequest {
  // Ollama fills in the middle with the model's template, which raw mode does not use.
  const kind = ask.suffix === undefined ? { raw: true } : { suffix: ask.suffix };
  return {
    path: "/api/generate",
    body: {
      ...{ model, prompt: ask.prompt, ...kind, stream: true, options: ask.options },
      ...logprobsFields(ask.logprobs),
    },
    ignored: [],
  };
}

function logprobsFields(logprobs: RemoteTurn["logprobs"]): JsonObject {
  return logprobs === undefined ? {} : { logprobs: true, top_logprobs: logprobs.top };
}

function formatOf(format: NonNullable<Turn["format"]>): unknown {
  return format.kind === "json" ? "json" : format.schema;
}

function ollamaMessage({ role, content, parts, thinking, tool_calls: calls, ...more }: Message): JsonObject {
  // Ollama has sounds in the same field.
  const images = parts?.flatMap((part) =>
    part.kind === "text" ? [] : [part.kind === "image" ? part.image.data : part.sound.data],
  );
  const { tool_name, tool_call_id } = more;
  return {
    // Ollama has neither of the other names.
    role: role === "developer" ? "system" : role === "function" ? "tool" : role,
    content,
    ...(images === undefined ? {} : { images }),
    ...(thinking ? { thinking } : {}),
    ...(calls === undefined || calls.length === 0 ? {} : { tool_calls: calls }),
    ...(tool_name === undefined ? {} : { tool_name }),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
  };
}
