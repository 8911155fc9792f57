import type { FastifyInstance } from "fastify";
import type { AnswerPiece } from "../../dialogue/answer-piece.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { GenerateDone, SampledLogprob } from "../../wire/inference/generate.ts";
import { chatCompletionsRequest, type Usage } from "../../wire/openai/chat-completions.ts";
import { answerTurn } from "../answer-turn.ts";
import { readBody } from "../body.ts";
import { tellDropped } from "../dropped.ts";
import { imageReader } from "../images.ts";
import { logprobsWish } from "../logprobs.ts";
import { StreamOutlet, shapeOf } from "../outlet.ts";
import type { Parts } from "../parts.ts";
import { prepareRun, type Run } from "../run.ts";
import { conversation, type TurnEvent } from "../run-turn.ts";
import { refuse, samplingOptions } from "../sampling.ts";
import { done, event, fingerprint, newId, sse } from "../sse.ts";
import { sendStream } from "../stream.ts";
import { requestTurn } from "./request-turn.ts";

/** `POST /v1/chat/completions`, streamed or whole. */
export function chatCompletionsRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/v1/chat/completions", async (request, reply) => {
    const body = readBody(request, reply, chatCompletionsRequest);
    refuse("n", (body.n ?? 1) > 1, ": only one choice per answer");
    const logprobs = logprobsWish(body);
    if (logprobs === undefined && (body.top_logprobs ?? 0) > 0)
      throw new LocallmError("invalid_field", { field: "top_logprobs", problem: "needs logprobs: true" });
    const options = samplingOptions(body, body.max_completion_tokens ?? body.max_tokens);
    const run = await prepareRun(parts, request, reply, { ...body, options });
    const { turn: asked, ignored } = requestTurn(body, await imageReader(parts, run, body.messages));
    run.tellIgnored(ignored);
    const turn = { ...asked, messages: conversation(run.model, asked.messages) };
    const outlet = body.stream === true ? StreamOutlet.of(reply) : null;
    const events = await answerTurn(parts, run, {
      turn,
      truncate: true,
      shift: false,
      ...{ logprobs, outlet },
      onDropped: (dropped) => tellDropped(reply, dropped),
    });
    const head = answerHead(run);
    if (body.stream !== true) return await wholeAnswer(head, events);
    const withUsage = body.stream_options?.include_usage === true;
    await sendStream(reply, encode(head, events, withUsage, outlet), { ...sse(request), outlet });
    return reply;
  });
}

export interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

function answerHead(run: Run): AnswerHead {
  return { id: newId("chatcmpl-"), created: Math.floor(Date.now() / 1000), model: run.typedName };
}

/** One event per piece. Builds the constant part of the events once. */
export async function* encode(
  head: AnswerHead,
  events: AsyncIterable<TurnEvent>,
  withUsage: boolean,
  outlet: StreamOutlet | null = null,
): AsyncGenerator<string> {
  const base = {
    ...head,
    object: "chat.completion.chunk",
    system_fingerprint: fingerprint,
    // Like OpenAI: if usage is requested, all earlier chunks have `usage: null`.
    ...(withUsage ? { usage: null } : {}),
  };
  const start = `data: ${JSON.stringify(base).slice(0, -1)},"choices":[{"index":0,"delta":`;
  const delta = (json: string) => `${start}${json},"finish_reason":null}]}\n\n`;
  const call = (fields: Record<string, unknown>) => delta(JSON.stringify({ tool_calls: [fields] }));

  const textDelta = (kind: "content" | "thinking", text: string, more = "") =>
    `${start}{"${kind === "content" ? "content" : "reasoning"}":${JSON.stringify(text)}}${more},"finish_reason":null}]}\n\n`;
  outlet?.toldBy((kind) =>
    first === "" ? { shape: shapeOf(({ text }) => textDelta(kind, text)), number: 0 } : null,
  );

  let called = false;
  let first = delta('{"role":"assistant","content":""}');
  for await (const piece of events) {
    const lead = first;
    first = "";
    switch (piece.kind) {
      case "content":
      case "thinking":
        if (piece.toldIn === undefined)
          yield lead +
            textDelta(piece.kind, piece.text, piece.kind === "content" ? logprobsField(piece) : "");
        break;
      case "call": {
        const { index, id, name } = piece;
        called = true;
        yield lead + call({ index, id, type: "function", function: { name, arguments: "" } });
        break;
      }
      case "arguments":
        yield lead + call({ index: piece.index, function: { arguments: piece.text } });
        break;
      case "called":
        first = lead;
        break;
      case "done": {
        const reason = JSON.stringify(finishReason(piece.done, called));
        const usage = withUsage
          ? event({ ...base, choices: [], usage: usageOf(piece.done, piece.thinkingTokens) })
          : "";
        const violations =
          piece.violations.length === 0 ? "" : `,"format_violations":${JSON.stringify(piece.violations)}`;
        yield `${lead}${start}{},"finish_reason":${reason}}]${violations}}\n\n${usage}${done}`;
      }
    }
  }
}

export async function wholeAnswer(head: AnswerHead, events: AsyncIterable<TurnEvent>) {
  let content = "";
  let reasoning = "";
  let logprobs: SampledLogprob[] | null = null;
  const calls: unknown[] = [];
  for await (const piece of events) {
    switch (piece.kind) {
      case "content":
        content += piece.text;
        if (piece.logprobs !== undefined) {
          logprobs ??= [];
          logprobs.push(...piece.logprobs);
        }
        break;
      case "thinking":
        reasoning += piece.text;
        break;
      case "called": {
        const { id, name, text } = piece.call;
        calls.push({ id, type: "function", function: { name, arguments: text } });
        break;
      }
      case "done": {
        const message = {
          role: "assistant",
          content: content === "" && calls.length > 0 ? null : content,
          refusal: null,
          ...(reasoning === "" ? {} : { reasoning }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        };
        return {
          ...head,
          object: "chat.completion",
          system_fingerprint: fingerprint,
          choices: [
            {
              index: 0,
              message,
              finish_reason: finishReason(piece.done, calls.length > 0),
              logprobs: logprobs === null ? null : { content: logprobs, refusal: null },
            },
          ],
          usage: usageOf(piece.done, piece.thinkingTokens),
          ...(piece.violations.length === 0 ? {} : { format_violations: piece.violations }),
        };
      }
    }
  }
  throw new Error("the answer ended without its final event");
}

function logprobsField({ logprobs }: AnswerPiece & { kind: "content" | "thinking" }): string {
  if (logprobs === undefined) return "";
  return `,"logprobs":${JSON.stringify({ content: logprobs, refusal: null })}`;
}

/**
 * Like OpenAI, returns `length` for a tool call that the length limit cut off, because its arguments are
 * incomplete.
 */
function finishReason(ended: GenerateDone, called: boolean): "stop" | "length" | "tool_calls" {
  return ended.reason === "length" ? "length" : called ? "tool_calls" : "stop";
}

/** OpenAI counts the tokens of a `prediction` so; here they are those that were guessed ahead. */
function predictedTokens({ drafts }: Pick<GenerateDone, "drafts">) {
  if (drafts === undefined) return {};
  return {
    accepted_prediction_tokens: drafts.accepted,
    rejected_prediction_tokens: drafts.tokens - drafts.accepted,
  };
}

type Counted = Pick<GenerateDone, "promptTokens" | "evalTokens" | "cachedTokens" | "drafts">;

export function usageOf(ended: Counted, thinkingTokens = 0): Usage {
  return {
    prompt_tokens: ended.promptTokens,
    completion_tokens: ended.evalTokens,
    total_tokens: ended.promptTokens + ended.evalTokens,
    prompt_tokens_details: { cached_tokens: ended.cachedTokens },
    completion_tokens_details: {
      reasoning_tokens: thinkingTokens,
      ...predictedTokens(ended),
    },
  };
}
