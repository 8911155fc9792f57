import type { FastifyInstance } from "fastify";
import { type ResponsesRequest, responsesRequest } from "../../wire/openai/responses.ts";
import { readBody } from "../body.ts";
import { tellDropped } from "../dropped.ts";
import type { ErrorBody } from "../error-reply.ts";
import type { Parts } from "../parts.ts";
import { prepareRun, requirePurpose } from "../run.ts";
import { conversation, requireTraits, runTurn, type TurnEvent } from "../run-turn.ts";
import { refuse, samplingOptions } from "../sampling.ts";
import { namedEvent, sse } from "../sse.ts";
import { sendStream } from "../stream.ts";
import { ResponseBuilder, type ResponseEvent } from "./response-builder.ts";
import { responsesTurn } from "./responses-turn.ts";

/** `POST /v1/responses`, stateless: each request contains the whole conversation. */
export function responsesRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/v1/responses", async (request, reply) => {
    const body = readBody(request, reply, responsesRequest);
    refuse(
      "previous_response_id",
      body.previous_response_id !== undefined,
      ": nothing is kept; send the whole conversation as input",
    );
    refuse(
      "conversation",
      body.conversation !== undefined,
      ": nothing is kept; send the whole conversation as input",
    );
    refuse("background", body.background === true);
    refuse("top_logprobs", (body.top_logprobs ?? 0) > 0);
    const asked = responsesTurn(body);
    const { temperature, top_p, options } = body;
    const run = await prepareRun(parts, request, reply, {
      ...body,
      options: samplingOptions({ temperature, top_p, options }, body.max_output_tokens),
    });
    await requirePurpose(parts, run, "completion", "chat");
    const dialogue = await parts.dialogues.of(run.model);
    requireTraits(run, dialogue.traits, asked);
    const turn = { ...asked, messages: conversation(run.model, asked.messages) };
    const events = runTurn(run, dialogue, {
      turn,
      truncate: body.truncation === "auto",
      shift: false,
      onDropped: (dropped) => tellDropped(reply, dropped),
    });
    const builder = new ResponseBuilder(run.typedName, echoed(body, run.options), () =>
      Math.floor(Date.now() / 1000),
    );
    if (body.stream !== true) {
      for await (const piece of events) builder.take(piece);
      return builder.response;
    }
    await sendStream(reply, encode(builder, events), sse(request, lateEvent));
    return reply;
  });
}

/** The request fields that a response repeats. */
function echoed(
  body: ResponsesRequest,
  options: { readonly temperature: number; readonly top_p: number },
): Record<string, unknown> {
  return {
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    temperature: options.temperature,
    top_p: options.top_p,
    tools: body.tools ?? [],
    tool_choice: body.tool_choice ?? "auto",
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    text: body.text ?? { format: { type: "text" } },
    reasoning: { effort: body.reasoning?.effort ?? null, summary: null },
    truncation: body.truncation ?? "disabled",
    metadata: body.metadata ?? {},
  };
}

export async function* encode(
  builder: ResponseBuilder,
  events: AsyncIterable<TurnEvent>,
): AsyncGenerator<string> {
  const write = (all: readonly ResponseEvent[]) => all.map(namedEvent).join("");
  // Held back until the first token, so that an earlier error still gets its own status.
  let begun = write(builder.begin());
  for await (const piece of events) {
    const text = write(builder.take(piece));
    if (text !== "") yield begun + text;
    if (text !== "") begun = "";
  }
}

/** OpenAI's event of an error has the error's fields at its top level. */
function lateEvent(body: ErrorBody): string {
  const { message, param, code, type } = (body as { error: Record<string, unknown> })["error"] as Record<
    string,
    unknown
  >;
  return namedEvent({ type: "error", code: code ?? type, message, param });
}
