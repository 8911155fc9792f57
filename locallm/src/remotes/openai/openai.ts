import type { AnswerPiece } from "../../dialogue/answer-piece.ts";
import {
  ask,
  bearer,
  brokeOff,
  eventJson,
  inBounds,
  knowingBegin,
  maxEventBytes,
  type Reply,
  readStream,
  refusePage,
  toldIgnored,
  unfinished,
} from "../asking.ts";
import { newCallId } from "../call-id.ts";
import type { RemoteCall, RemoteEngine, RemoteEvent, RemoteResponse, Upstream } from "../engine.ts";
import { EventStreamReader, type StreamEvent } from "../event-stream.ts";
import { asObject, isJson, type JsonObject, readObject } from "../json-body.ts";
import { Measured } from "../measured.ts";
import { refusalError, refusalOf } from "../refusal.ts";
import { RemoteCalls } from "../remote-calls.ts";
import { doneReason, OpenAiAnswer } from "./answer.ts";
import { embed } from "./embeddings.ts";
import { kindOfAnswer } from "./kinds.ts";
import { probe } from "./probe.ts";
import { chatBody, completionBody, type OpenAiRequest, usage } from "./request-body.ts";
import { rerank } from "./rerank.ts";

/** OpenAI's protocol, as vLLM, SGLang, TGI, llama-server, Ray Serve, Ollama and LM Studio speak it. */
export const openai: RemoteEngine = {
  turn: (upstream, wish, call) =>
    knowingBegin(
      upstream,
      answer(upstream, chatBody(upstream, wish), {
        ...{ path: "/chat/completions", call, numPredict: wish.options.num_predict ?? -1 },
      }),
    ),
  complete: (upstream, wish, call) =>
    knowingBegin(
      upstream,
      answer(upstream, completionBody(upstream, wish), {
        ...{ path: "/completions", call, numPredict: wish.options.num_predict ?? -1 },
      }),
    ),
  embed,
  rerank,
  probe,
};

interface Asking {
  readonly path: string;
  readonly call: RemoteCall;
  readonly numPredict: number;
}

async function* answer(
  upstream: Upstream,
  request: OpenAiRequest,
  { path, call, numPredict }: Asking,
): AsyncGenerator<RemoteEvent> {
  const measured = new Measured(call.now);
  const headers = { accept: "text/event-stream", ...bearer(upstream) };
  const { body, optional } = request;
  const reply = await ask(upstream, { path, headers, body, optional }, call);
  measured.sent(reply.sentBytes);
  const reading = new OpenAiAnswer(new RemoteCalls(call.newCallId ?? newCallId));
  let isFirst = true;
  const take = function* (chunk: JsonObject): Generator<RemoteEvent> {
    refuseError(upstream, chunk, path);
    if (isFirst) yield* ignoredEvent(reply, chunk, request);
    isFirst = false;
    const pieces = inBounds(upstream, () => reading.push(chunk));
    if (numPredict !== 0) yield* seen(measured, pieces);
  };
  let isDone = false;
  for await (const chunks of chunksOf(upstream, reply)) {
    for (const chunk of chunks) {
      isDone = chunk === null;
      if (chunk === null) break;
      yield* take(chunk);
    }
    if (!isDone) continue;
    reply.response.complete();
    break;
  }
  const { reason, stopString, counts } = reading.ending;
  if (isFirst || (reason === null && !isDone)) throw brokeOff(upstream, unfinished);
  if (reason === "abort" || reason === "error") throw brokeOff(upstream, "it aborted the request");
  if (numPredict !== 0)
    yield* seen(
      measured,
      inBounds(upstream, () => reading.end()),
    );
  // Engines compute at least one token, which was not requested and does not count.
  if (numPredict === 0) yield measured.done("length", null, { ...counts, evalTokens: 0 });
  else yield measured.done(endReason(reason, counts.evalTokens, numPredict), stopString, counts);
}

/** A missing reason means `stop`, unless the answer has the requested length. */
function endReason(reason: string | null, evalTokens: number | null, numPredict: number) {
  if (reason !== null) return doneReason(reason);
  return numPredict > 0 && (evalTokens ?? 0) >= numPredict ? "length" : "stop";
}

function* seen(measured: Measured, pieces: readonly AnswerPiece[]): Generator<AnswerPiece> {
  for (const piece of pieces) {
    measured.see(piece);
    yield piece;
  }
}

/** The answer's chunks, in groups that arrived together. Null is the protocol's end mark. */
async function* chunksOf(
  upstream: Upstream,
  { response }: Reply,
): AsyncGenerator<Iterable<JsonObject | null>> {
  refusePage(upstream, response);
  if (isJson(response)) {
    yield [await readObject(upstream, response, maxEventBytes), null];
    return;
  }
  for await (const events of readStream(upstream, response, new EventStreamReader(maxEventBytes)))
    yield readEvents(upstream, events);
}

/** Reads each event only after those before it were passed on. */
function* readEvents(upstream: Upstream, events: readonly StreamEvent[]): Generator<JsonObject | null> {
  for (const { name, data } of events) {
    if (data.length === 0) continue;
    if (isEndMark(data)) yield null;
    else {
      const chunk = asObject(eventJson(upstream, data));
      if (chunk === null) throw brokeOff(upstream, "it sent an event that is not a JSON object");
      yield name === "error" ? { error: chunk["error"] ?? chunk } : chunk;
    }
  }
}

function isEndMark(data: Uint8Array): boolean {
  return data.length < 16 && Buffer.from(data).toString("latin1").trim() === "[DONE]";
}

/** Errors inside an answer: `{"error": …}`, or the shape of older vLLM and SGLang, `{"object": "error", …}`. */
function refuseError(upstream: Upstream, chunk: JsonObject, path: string): void {
  const isError = (chunk["error"] ?? null) !== null || chunk["object"] === "error";
  if (isError) throw refusalError(upstream, refusalOf(200, chunk), path);
}

function* ignoredEvent(
  { response, rejected }: Reply,
  first: JsonObject,
  { said, ignored, optional }: OpenAiRequest,
): Generator<RemoteEvent> {
  const { ignores } = kindOfAnswer(response, first);
  const fields = new Set<string>([
    ...ignored,
    ...rejected,
    ...said.filter((wish) => ignores.includes(wish)),
    ...toldByEngine(response, optional),
  ]);
  fields.delete(usage);
  if (fields.size > 0) yield { kind: "ignored", fields: [...fields] };
}

/**
 * Another locallm names the fields that it ignores. An option that was sent in two fields is ignored only if
 * both are.
 */
function toldByEngine(response: RemoteResponse, optional: OpenAiRequest["optional"]): string[] {
  const told = toldIgnored(response);
  const names = Object.entries(optional);
  return told.flatMap((field) => {
    const ours = optional[field]?.ours;
    if (ours === undefined) return [];
    return names.every(([name, other]) => other.ours !== ours || told.includes(name)) ? [ours] : [];
  });
}
