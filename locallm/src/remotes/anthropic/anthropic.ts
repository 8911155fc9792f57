import { LocallmError } from "../../wire/errors.ts";
import {
  ask,
  brokeOff,
  eventJson,
  inBounds,
  knowingBegin,
  look,
  maxEventBytes,
  maxProbeBytes,
  readStream,
  refusePage,
  toldIgnored,
  unfinished,
} from "../asking.ts";
import { newCallId } from "../call-id.ts";
import type {
  Probe,
  RemoteCall,
  RemoteEngine,
  RemoteEvent,
  RemoteResponse,
  RemoteTurn,
  Upstream,
} from "../engine.ts";
import { EventStreamReader, type StreamEvent } from "../event-stream.ts";
import { asList, asObject, asText, isJson, type JsonObject, readObject } from "../json-body.ts";
import { Measured } from "../measured.ts";
import { refusalError, refusalOf } from "../refusal.ts";
import { RemoteCalls } from "../remote-calls.ts";
import { AnthropicAnswer } from "./answer.ts";
import { messagesRequest } from "./request-body.ts";

/** Anthropic's messages API. It has neither raw prompts nor embeddings. */
export const anthropic: RemoteEngine = {
  turn: (upstream, wish, call) => knowingBegin(upstream, answer(upstream, wish, call)),
  // biome-ignore lint/correctness/useYield: it only fails.
  async *complete({ model }) {
    throw new LocallmError("unsupported_capability", { model, capability: "raw prompts" });
  },
  async embed({ model }) {
    throw new LocallmError("unsupported_capability", { model, capability: "embedding" });
  },
  async rerank({ model }) {
    throw new LocallmError("unsupported_capability", { model, capability: "rerank" });
  },
  probe,
};

const path = "/messages";

async function* answer(upstream: Upstream, wish: RemoteTurn, call: RemoteCall): AsyncGenerator<RemoteEvent> {
  const measured = new Measured(call.now);
  const { body, optional, ignored } = messagesRequest(upstream, wish);
  const headers = { accept: "text/event-stream", ...headersOf(upstream) };
  const { response, rejected, sentBytes } = await ask(upstream, { path, headers, body, optional }, call);
  measured.sent(sentBytes);
  const fields = [...new Set([...ignored, ...rejected, ...toldIgnored(response)])];
  if (fields.length > 0) yield { kind: "ignored", fields };
  const reading = new AnthropicAnswer(new RemoteCalls(call.newCallId ?? newCallId));
  const isSilent = wish.options.num_predict === 0;
  for await (const events of eventsOf(upstream, response)) {
    for (const event of events) {
      const isEnd = event["type"] === "message_stop" || event["type"] === "message";
      const pieces = inBounds(upstream, () => [...reading.push(event), ...(isEnd ? reading.end() : [])]);
      for (const piece of isSilent ? [] : pieces) {
        measured.see(piece);
        yield piece;
      }
      if (!isEnd) continue;
      response.complete();
      const { reason, stopString } = reading.ending ?? { reason: "stop", stopString: null };
      // The protocol generates at least one token.
      if (isSilent) yield measured.done("length", null, { ...reading.counts, evalTokens: 0 });
      else yield measured.done(reason, stopString, reading.counts);
      return;
    }
  }
  throw brokeOff(upstream, unfinished);
}

async function* eventsOf(upstream: Upstream, response: RemoteResponse): AsyncGenerator<Iterable<JsonObject>> {
  refusePage(upstream, response);
  if (isJson(response)) {
    yield [{ ...(await readObject(upstream, response, maxEventBytes)), type: "message" }];
    return;
  }
  for await (const events of readStream(upstream, response, new EventStreamReader(maxEventBytes)))
    yield readEvents(upstream, events);
}

/** Reads each event only after those before it were passed on. */
function* readEvents(upstream: Upstream, events: readonly StreamEvent[]): Generator<JsonObject> {
  for (const { name, data } of events) {
    const event = asObject(eventJson(upstream, data));
    if (event === null) throw brokeOff(upstream, "it sent an event that is not a JSON object");
    if (name === "error" || event["type"] === "error")
      throw refusalError(upstream, refusalOf(200, event), path);
    // The name repeats the type; some servers send only one of them.
    yield event["type"] === undefined ? { ...event, type: name } : event;
  }
}

async function probe(upstream: Upstream, call: RemoteCall): Promise<Probe> {
  const listed = await look(upstream, new URL(`${upstream.url}/models`), headersOf(upstream), call);
  const list = listed === null ? null : await readObject(upstream, listed, maxProbeBytes);
  const names = list === null ? null : asList(list["data"]).map((each) => asText(asObject(each)?.["id"]));
  // The list has pages: a model that is not on the first one may still exist.
  const models = list?.["has_more"] === true ? null : names;
  return { models, contextLength: null, places: null, waiting: null };
}

/** Anthropic reads `x-api-key`; engines behind a gateway, and locallm, read either. */
function headersOf({ key }: Upstream): Record<string, string> {
  return { "anthropic-version": "2023-06-01", ...(key === null ? {} : { "x-api-key": key }) };
}
