import { LocallmError } from "../../wire/errors.ts";
import type { Embeddings } from "../../wire/inference/embed.ts";
import {
  ask,
  bearer,
  brokeOff,
  eventJson,
  inBounds,
  knowingBegin,
  look,
  maxEventBytes,
  maxProbeBytes,
  readStream,
  toldIgnored,
  unfinished,
} from "../asking.ts";
import { newCallId } from "../call-id.ts";
import { inBatches, vectorOf } from "../embedding-batches.ts";
import type { Probe, RemoteCall, RemoteEngine, RemoteEvent, Upstream } from "../engine.ts";
import { hostOf } from "../failure.ts";
import { asAmount, asCount, asList, asObject, asText, type JsonObject, readObject } from "../json-body.ts";
import { LineReader } from "../lines.ts";
import { Measured } from "../measured.ts";
import { refusalError, refusalOf } from "../refusal.ts";
import { RemoteCalls } from "../remote-calls.ts";
import { OllamaAnswer } from "./answer.ts";
import { chatRequest, generateRequest, type OllamaRequest } from "./request-body.ts";

/** Ollama's protocol, which another locallm speaks as well. */
export const ollama: RemoteEngine = {
  turn: (upstream, wish, call) => knowingBegin(upstream, answer(upstream, chatRequest(upstream, wish), call)),
  complete: (upstream, wish, call) =>
    knowingBegin(upstream, answer(upstream, generateRequest(upstream, wish), call)),
  embed,
  async rerank({ model }) {
    throw new LocallmError("unsupported_capability", { model, capability: "rerank" });
  },
  probe,
};

async function* answer(
  upstream: Upstream,
  { path, body, ignored }: OllamaRequest,
  call: RemoteCall,
): AsyncGenerator<RemoteEvent> {
  const measured = new Measured(call.now);
  const { response, sentBytes } = await ask(
    upstream,
    { path, headers: { accept: "application/x-ndjson", ...bearer(upstream) }, body, optional: {} },
    call,
  );
  measured.sent(sentBytes);
  const fields = [...ignored, ...toldIgnored(response)];
  if (fields.length > 0) yield { kind: "ignored", fields };
  const reading = new OllamaAnswer(new RemoteCalls(call.newCallId ?? newCallId));
  for await (const lines of readStream(upstream, response, new LineReader(maxEventBytes))) {
    for (const bytes of lines) {
      if (bytes.length === 0) continue;
      const line = lineOf(upstream, bytes, path);
      for (const piece of inBounds(upstream, () => reading.push(line))) {
        measured.see(piece);
        yield piece;
      }
      const { ending } = reading;
      if (ending === null) continue;
      response.complete();
      yield measured.done(ending.reason, null, ending.counts);
      return;
    }
  }
  throw brokeOff(upstream, unfinished);
}

/** An error inside the stream is a line of its own: `{"error": "…"}`. */
function lineOf(upstream: Upstream, bytes: Uint8Array, path: string): JsonObject {
  const line = asObject(eventJson(upstream, bytes));
  if (line === null) throw brokeOff(upstream, "it sent a line that is not a JSON object");
  if ((line["error"] ?? null) !== null) throw refusalError(upstream, refusalOf(200, line), path);
  return line;
}

function embed(upstream: Upstream, inputs: readonly string[], call: RemoteCall): Promise<Embeddings> {
  return inBatches(upstream, inputs, call, async (batch, limitBytes, stoppable) => {
    const question = {
      ...{ path: "/api/embed", headers: bearer(upstream), optional: {} },
      body: { model: upstream.model, input: batch, truncate: false },
    };
    const { response } = await ask(upstream, question, stoppable);
    const body = await readObject(upstream, response, limitBytes);
    const vectors = asList(body["embeddings"]).map(vectorOf);
    return { vectors, tokens: asCount(body["prompt_eval_count"]) };
  });
}

/** The list of models, and the window of the upstream's model if it is loaded. */
async function probe(upstream: Upstream, call: RemoteCall): Promise<Probe> {
  const list = async (path: string) => {
    const response = await look(upstream, new URL(`${upstream.url}${path}`), bearer(upstream), call);
    if (response === null) return null;
    return asList((await readObject(upstream, response, maxProbeBytes))["models"]).map((each) =>
      asObject(each),
    );
  };
  const tags = await list("/api/tags");
  if (tags === null) {
    const reason = "it has no /api/tags, so it does not speak Ollama's protocol";
    throw new LocallmError("remote_failed", { host: hostOf(upstream), reason });
  }
  const names = tags.map((entry) => asText(entry?.["name"])).filter((name) => name !== "");
  const loaded = await list("/api/ps").catch(() => null);
  const own = loaded?.find((entry) => namesOf(asText(entry?.["name"])).includes(upstream.model));
  return {
    models: names.flatMap(namesOf),
    contextLength: asAmount(own?.["context_length"]),
    places: null,
    waiting: null,
  };
}

/** The tag `latest` may be left out. */
function namesOf(name: string): string[] {
  return name.endsWith(":latest") ? [name, name.slice(0, -":latest".length)] : [name];
}
