import type { FastifyInstance } from "fastify";
import { type Message, plainTurn } from "../../dialogue/turn.ts";
import { remoteFields } from "../../library/remote.ts";
import { type ChatRequest, chatRequest } from "../../wire/api/inference.ts";
import { LocallmError } from "../../wire/errors.ts";
import { answerTurn } from "../answer-turn.ts";
import { readBody } from "../body.ts";
import { tellDropped } from "../dropped.ts";
import { answerFormat } from "../format.ts";
import { contentWithImages, imageReader, type ReadImage } from "../images.ts";
import { logprobsWish } from "../logprobs.ts";
import { StreamOutlet, shapeOf } from "../outlet.ts";
import type { Parts } from "../parts.ts";
import { windowFields } from "../remote-turn.ts";
import { prepareRun, type Run } from "../run.ts";
import { conversation, type TurnEvent } from "../run-turn.ts";
import { sendStream } from "../stream.ts";
import { counters, extras, violationsField } from "./counters.ts";
import { loadOrUnload } from "./load.ts";
import { ndjson } from "./ndjson.ts";
import { shownLogprobs } from "./shown-logprobs.ts";

/** `POST /api/chat`: the client's whole history, rendered with the model's template. */
export function chatRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/chat", async (request, reply) => {
    const body = readBody(request, reply, chatRequest);
    const run = await prepareRun(parts, request, reply, body);
    const logprobs = logprobsWish(body);
    const messages = body.messages ?? [];
    if (messages.length === 0)
      return await loadOrUnload(parts, run, { message: { role: "assistant", content: "" } });
    const read = await imageReader(parts, run);
    const seen = messages.map((message, index) => turnMessage(message, `messages[${index}]`, read));
    if (run.remote !== null) run.tellIgnored(windowFields(body));
    const outlet = body.stream === false ? null : StreamOutlet.of(reply);
    const events = await answerTurn(parts, run, {
      turn: plainTurn(conversation(run.model, seen), wishes(body)),
      truncate: body.truncate ?? true,
      shift: body.shift ?? false,
      ...{ logprobs, outlet },
      onDropped: (dropped) => tellDropped(reply, dropped),
    });
    if (body.stream === false) return await wholeAnswer(run, events);
    await sendStream(reply, encode(run, events, outlet), { ...ndjson(request), outlet });
    return reply;
  });
}

function turnMessage(
  { images = [], ...message }: NonNullable<ChatRequest["messages"]>[number],
  field: string,
  read: ReadImage,
): Message {
  const content = contentWithImages(message.content, images, `${field}.images`, read);
  if (content.parts !== undefined && !["user", "tool", "function"].includes(message.role))
    throw new LocallmError("invalid_field", {
      field: `${field}.images`,
      problem: "is only possible in messages of users and results of tools",
    });
  return { ...message, ...content };
}

function wishes(body: ChatRequest) {
  return { tools: body.tools ?? [], think: body.think ?? null, format: answerFormat(body.format) };
}

interface NativeCall {
  readonly id: string;
  readonly function: { readonly index: number; readonly name: string; readonly arguments: unknown };
}

type DoneEvent = Extract<TurnEvent, { kind: "done" }>;
type CalledEvent = Extract<TurnEvent, { kind: "called" }>;

function nativeCall({ index, call }: CalledEvent): NativeCall {
  return {
    id: call.id,
    function: { index, name: call.name, arguments: call.arguments ?? { arguments: call.text } },
  };
}

function finalFields(run: Run, { done, lease, dropped, violations }: DoneEvent): Record<string, unknown> {
  return {
    done: true,
    done_reason: done.reason,
    ...counters(run, lease, done),
    ...extras(run, lease, done, dropped),
    ...remoteFields(run.model),
    ...violationsField(violations),
  };
}

/** Builds the constant part of the lines once. A tool call is sent whole, in its own line. */
export async function* encode(
  run: Run,
  events: AsyncIterable<TurnEvent>,
  outlet: StreamOutlet | null = null,
): AsyncGenerator<string> {
  const head = `{"model":${JSON.stringify(run.typedName)},"created_at":"`;
  const line = (fields: string, time = new Date().toISOString()) =>
    `${head}${time}","message":{"role":"assistant",${fields}}`;
  const textLine = (kind: "content" | "thinking", text: string, time?: string, more = "") =>
    `${line(`${kind === "content" ? '"content":' : '"content":"","thinking":'}${JSON.stringify(text)}`, time)}${more},"done":false}\n`;
  outlet?.toldBy((kind) => ({ shape: shapeOf(({ text, time }) => textLine(kind, text, time)), number: 0 }));
  for await (const event of events) {
    switch (event.kind) {
      case "content":
      case "thinking":
        if (event.toldIn === undefined) yield textLine(event.kind, event.text, undefined, logprobsOf(event));
        break;
      case "called":
        yield `${line(`"content":"","tool_calls":${JSON.stringify([nativeCall(event)])}`)},"done":false}\n`;
        break;
      case "done":
        yield `${line('"content":""')},${JSON.stringify(finalFields(run, event)).slice(1)}\n`;
        break;
    }
  }
}

export async function wholeAnswer(run: Run, events: AsyncIterable<TurnEvent>) {
  let content = "";
  let thinking = "";
  const calls: NativeCall[] = [];
  let final: Record<string, unknown> = {};
  const logprobs: unknown[] = [];
  for await (const event of events) {
    if (event.kind === "content" || event.kind === "thinking")
      logprobs.push(...(shownLogprobs(event.logprobs) ?? []));
    if (event.kind === "content") content += event.text;
    else if (event.kind === "thinking") thinking += event.text;
    else if (event.kind === "called") calls.push(nativeCall(event));
    else if (event.kind === "done") final = finalFields(run, event);
  }
  const message = {
    role: "assistant",
    content,
    ...(thinking === "" ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const probabilities = logprobs.length === 0 ? {} : { logprobs };
  return { model: run.typedName, created_at: new Date().toISOString(), message, ...probabilities, ...final };
}

function logprobsOf({
  logprobs,
}: Extract<TurnEvent, { text: string; kind: "content" | "thinking" }>): string {
  return logprobs === undefined ? "" : `,"logprobs":${JSON.stringify(shownLogprobs(logprobs))}`;
}
