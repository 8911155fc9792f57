import type { FastifyInstance } from "fastify";
import type { Caller } from "../../keys/keys.ts";
import { LocallmError } from "../../wire/errors.ts";
import { type ResponsesItem, type ResponsesRequest, responsesRequest } from "../../wire/openai/responses.ts";
import { answerTurn } from "../answer-turn.ts";
import { readBody } from "../body.ts";
import { tellDropped } from "../dropped.ts";
import type { ErrorBody } from "../error-reply.ts";
import { imageReader } from "../images.ts";
import { StreamOutlet } from "../outlet.ts";
import type { Parts } from "../parts.ts";
import { prepareRun } from "../run.ts";
import { conversation, type TurnEvent } from "../run-turn.ts";
import { refuse, samplingOptions } from "../sampling.ts";
import { namedEvent, sse } from "../sse.ts";
import { sendStream } from "../stream.ts";
import { ResponseBuilder, type ResponseEvent } from "./response-builder.ts";
import type { ResponseStore } from "./response-store.ts";
import { responsesTurn } from "./responses-turn.ts";
import { inputItems } from "./stored-responses.ts";

/** `POST /v1/responses`, streamed or whole. A finished response is kept, so that the next request can continue it. */
export function responsesRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/v1/responses", async (request, reply) => {
    const body = readBody(request, reply, responsesRequest);
    refuse(
      "conversation",
      body.conversation !== undefined,
      ": use previous_response_id, or send the whole conversation as input",
    );
    refuse("prompt", body.prompt !== undefined, ": it is stored at OpenAI; send its text as instructions");
    refuse("background", body.background === true, ": the answer comes with the request; stream it instead");
    refuse("top_logprobs", (body.top_logprobs ?? 0) > 0, ": use /v1/chat/completions for log probabilities");
    const earlier = earlierItems(parts.responses, request.caller, body.previous_response_id);
    const { temperature, top_p, options } = body;
    const run = await prepareRun(parts, request, reply, {
      ...body,
      options: samplingOptions({ temperature, top_p, options }, body.max_output_tokens),
    });
    const read = await imageReader(parts, run, [earlier, body.input]);
    const { turn: asked, customs, ignored } = responsesTurn(body, read, earlier);
    run.tellIgnored(ignored);
    const turn = { ...asked, messages: conversation(run.model, asked.messages) };
    const outlet = body.stream === true ? StreamOutlet.of(reply) : null;
    const events = await answerTurn(parts, run, {
      ...{ turn, outlet },
      truncate: body.truncation === "auto",
      shift: false,
      onDropped: (dropped) => tellDropped(reply, dropped),
    });
    const now = () => Math.floor(parts.now().getTime() / 1000);
    const builder = new ResponseBuilder(run.typedName, echoed(body, run.options), now, customs);
    const input = [...earlier, ...inputItems(body.input)];
    const keep = async () => {
      if (body.store === false) return;
      const isKept = await parts.responses.add({ response: builder.response, input, owner: run.caller.id });
      if (!isKept) builder.wasNotKept();
    };
    if (body.stream !== true) {
      for await (const piece of events) builder.take(piece);
      await keep();
      return builder.response;
    }
    await sendStream(reply, encode(builder, events, keep, outlet), { ...sse(request, lateEvent), outlet });
    return reply;
  });
}

/** Returns the input and output of all responses up to and including this one. */
function earlierItems(
  responses: ResponseStore,
  caller: Caller,
  id: string | undefined,
): readonly ResponsesItem[] {
  if (id === undefined) return [];
  const found = responses.get(id, caller);
  if (found === null) throw new LocallmError("previous_response_not_found", { id: id.slice(0, 80) });
  return [...found.input, ...found.response.output];
}

/** The request fields that a response repeats. */
function echoed(
  body: ResponsesRequest,
  options: { readonly temperature?: number | undefined; readonly top_p?: number | undefined },
): Record<string, unknown> {
  return {
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    temperature: options.temperature ?? null,
    top_p: options.top_p ?? null,
    tools: body.tools ?? [],
    tool_choice: body.tool_choice ?? "auto",
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    text: body.text ?? { format: { type: "text" } },
    reasoning: { effort: body.reasoning?.effort ?? null, summary: null },
    truncation: body.truncation ?? "disabled",
    metadata: body.metadata ?? {},
    previous_response_id: body.previous_response_id ?? null,
    store: body.store ?? true,
  };
}

export async function* encode(
  builder: ResponseBuilder,
  events: AsyncIterable<TurnEvent>,
  /** Called with the finished response, before its last event is sent. */
  onFinished: () => Promise<void>,
  outlet: StreamOutlet | null = null,
): AsyncGenerator<string> {
  const write = (all: readonly ResponseEvent[]) => all.map(namedEvent).join("");
  // Hold the first event back until the first token, so that an earlier error still gets its own status.
  let begun = write(builder.begin());
  outlet?.toldBy((kind) => builder.nextLine(kind));
  for await (const piece of events) {
    const taken = builder.take(piece);
    if ("toldIn" in piece) continue;
    if (piece.kind === "done") await onFinished();
    const text = write(taken);
    if (text !== "") yield begun + text;
    if (text !== "") begun = "";
  }
}

/** In OpenAI's error event, the fields of the error are at the top level. */
function lateEvent(body: ErrorBody): string {
  const { message, param, code, type } = (body as { error: Record<string, unknown> })["error"] as Record<
    string,
    unknown
  >;
  return namedEvent({ type: "error", code: code ?? type, message, param });
}
