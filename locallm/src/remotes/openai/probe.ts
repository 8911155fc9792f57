import { bearer, look, maxProbeBytes } from "../asking.ts";
import type { Probe, RemoteCall, Upstream } from "../engine.ts";
import {
  asAmount,
  asList,
  asObject,
  asText,
  type JsonObject,
  jsonOf,
  readBytes,
  readObject,
} from "../json-body.ts";
import { kindOfModel } from "./kinds.ts";

/**
 * Asks `/health`, which not every engine has, then `/v1/models`, and then the path at which the engine
 * reports its load.
 */
export async function probe(upstream: Upstream, call: RemoteCall): Promise<Probe> {
  const headers = bearer(upstream);
  const at = (path: string) => new URL(path, `${upstream.url}/`);
  const health = await look(upstream, at("../health"), headers, call);
  health?.close();
  const listed = await look(upstream, at("models"), headers, call);
  const list = listed === null ? null : asList((await readObject(upstream, listed, maxProbeBytes))["data"]);
  const models = list?.map((each) => asObject(each) ?? {}) ?? null;
  const own = models?.find((entry) => entry["id"] === upstream.model) ?? models?.[0];
  const kind = kindOfModel(own);
  const load =
    kind.load === "slots"
      ? await slots(upstream, at("../slots"), headers, call)
      : kind.load === "metrics"
        ? await metrics(upstream, at("../metrics"), headers, call)
        : null;
  return {
    models: models?.map((entry) => asText(entry["id"])).filter((id) => id !== "") ?? null,
    contextLength: load?.contextLength ?? contextLength(own),
    places: load?.places ?? null,
    waiting: load?.waiting ?? null,
  };
}

type Load = Pick<Probe, "places" | "waiting" | "contextLength">;
type Headers = Readonly<Record<string, string>>;

/** vLLM and SGLang name the window of a model; llama-server's entry only has the one it was trained with. */
function contextLength(entry: JsonObject | undefined): number | null {
  return asAmount(entry?.["max_model_len"]);
}

/** llama-server: one entry for each slot. Without `--slots` it answers 501, and /props has only their number. */
async function slots(upstream: Upstream, url: URL, headers: Headers, call: RemoteCall): Promise<Load | null> {
  const response = await quietly(look(upstream, url, headers, call));
  if (response === null) return null;
  const list = asList(jsonOf(await readBytes(upstream, response, maxProbeBytes))).map(asObject);
  if (list.length === 0) return null;
  const busy = list.filter((slot) => slot?.["is_processing"] === true).length;
  return {
    places: { total: list.length, busy },
    waiting: null,
    contextLength: asAmount(list[0]?.["n_ctx"]),
  };
}

const running = ["vllm:num_requests_running", "sglang:num_running_reqs", "tgi_batch_current_size"];
const waiting = ["vllm:num_requests_waiting", "sglang:num_queue_reqs", "tgi_queue_size"];

/** vLLM, SGLang and TGI: gauges in Prometheus' text format, one line for each replica inside the engine. */
async function metrics(
  upstream: Upstream,
  url: URL,
  headers: Headers,
  call: RemoteCall,
): Promise<Load | null> {
  const response = await quietly(look(upstream, url, headers, call));
  if (response === null) return null;
  const text = Buffer.from(await readBytes(upstream, response, maxProbeBytes)).toString();
  const busy = sumOf(text, running);
  if (busy === null) return null;
  return { places: { total: null, busy }, waiting: sumOf(text, waiting), contextLength: null };
}

/** An engine that does not report its load is still healthy. */
async function quietly<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch {
    return null;
  }
}

function sumOf(text: string, names: readonly string[]): number | null {
  const values = text.split("\n").flatMap((line) => {
    const [, name = "", value] = /^([\w:]+)(?:\{[^}]*\})? ([\d.e+]+)/.exec(line) ?? [];
    return names.includes(name) ? [Number(value)] : [];
  });
  if (values.length === 0) return null;
  const sum = values.reduce((all, value) => all + value, 0);
  // Loads are compared after adding 1, so they must be numbers to which 1 can be added.
  return sum <= mostRequests ? sum : null;
}

const mostRequests = 1e9;
