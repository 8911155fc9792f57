import type { FastifyInstance } from "fastify";
import { messagesRequest } from "../../wire/anthropic/messages.ts";
import { answerTurn } from "../answer-turn.ts";
import { readBody, tellIgnored } from "../body.ts";
import { StreamOutlet, shapeOf } from "../outlet.ts";
import type { Parts } from "../parts.ts";
import { prepareRun } from "../run.ts";
import type { TurnEvent } from "../run-turn.ts";
import { samplingOptions } from "../sampling.ts";
import { namedEvent, sse } from "../sse.ts";
import { sendStream } from "../stream.ts";
import { askedTurn } from "./asked-turn.ts";
import { MessageBuilder } from "./message-builder.ts";

/** Clients close a stream that is silent for a minute or longer, and a long prompt takes longer than that. */
const pingEveryMs = 10_000;

/** `POST /v1/messages`, streamed or whole. */
export function messagesRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/v1/messages", async (request, reply) => {
    const body = readBody(request, reply, messagesRequest);
    const { temperature, top_p, top_k, stop_sequences: stop = [], max_tokens } = body;
    const given = {
      temperature,
      top_p,
      top_k,
      stop: stop.length === 0 ? undefined : stop,
      options: body.options,
    };
    const options = samplingOptions(given, max_tokens);
    const run = await prepareRun(parts, request, reply, { ...body, options });
    const { turn, ignored } = await askedTurn(parts, run, body);
    tellIgnored(reply, ignored);
    const builder = new MessageBuilder({
      model: run.typedName,
      omitsThinking: body.thinking?.display === "omitted",
      stopSequences: stop,
      maxTokens: max_tokens,
    });
    // Do not drop messages. The client can compact its conversation itself and knows better which parts it
    // needs.
    const outlet = body.stream === true ? StreamOutlet.of(reply) : null;
    const wish = { turn, truncate: false, shift: false, onPrompt: builder.prompt, outlet };
    const events = await answerTurn(parts, run, wish);
    if (body.stream !== true) {
      for await (const piece of events) builder.take(piece);
      return builder.message;
    }
    await sendStream(reply, encode(builder, events, outlet), {
      ...sse(request, (late) => namedEvent(late as Extract<typeof late, { type: "error" }>)),
      ping: { line: namedEvent({ type: "ping" }), everyMs: pingEveryMs },
      outlet,
    });
    return reply;
  });
}

export async function* encode(
  builder: MessageBuilder,
  events: AsyncIterable<TurnEvent>,
  outlet: StreamOutlet | null = null,
): AsyncGenerator<string> {
  outlet?.toldBy((kind) => {
    if (!builder.grows(kind)) return null;
    return { shape: shapeOf(({ text }) => namedEvent(builder.delta(kind, text))), number: 0 };
  });
  for await (const piece of events) {
    const text = builder.take(piece).map(namedEvent).join("");
    if (text !== "" && !("toldIn" in piece)) yield text;
  }
}
