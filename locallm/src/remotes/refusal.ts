import { LocallmError } from "../wire/errors.ts";
import type { RemoteResponse, Upstream } from "./engine.ts";
import { engineWords, hostOf } from "./failure.ts";
import { asObject, jsonOf, readBytes } from "./json-body.ts";

/** What an engine says about a failure, in an answer's body or inside its event stream. */
export interface Refusal {
  readonly status: number;
  readonly words: string;
  /** The request field that the engine rejects, if it names one. */
  readonly param: string | null;
  /** Whether the conversation exceeds the engine's window. */
  readonly isTooLong: boolean;
  readonly retryAfterSeconds: number;
}

const maxErrorBytes = 64 * 1024;

/** Reads an answer whose status is not 2xx, and closes it. */
export async function readRefusal(upstream: Upstream, response: RemoteResponse): Promise<Refusal> {
  const { status, headers } = response;
  const retryAfterSeconds = retryAfter(headers["retry-after"], headers["date"]);
  let bytes: Uint8Array = new Uint8Array();
  try {
    bytes = await readBytes(upstream, response, maxErrorBytes);
  } catch {
    // If the body cannot be read, the error has only the status.
  }
  if (status >= 300 && status < 400)
    return { ...refusalOf(status, "it redirects to another address"), retryAfterSeconds };
  return { ...refusalOf(status, jsonOf(bytes) ?? Buffer.from(bytes).toString()), retryAfterSeconds };
}

/**
 * Reads the error shapes of OpenAI, Anthropic, Ollama, FastAPI (`detail`), vLLM and TGI (`error_type`), and error pages
 * of proxies.
 */
export function refusalOf(status: number, body: unknown): Refusal {
  const outer = asObject(body);
  const inner = asObject(outer?.["error"]) ?? outer;
  const words = wordsOf(outer, inner, body);
  const codes = [inner?.["code"], inner?.["error_type"], inner?.["type"]];
  const param = inner?.["param"];
  return {
    status: statusOf(status, inner?.["code"] ?? outer?.["code"], inner?.["type"] ?? outer?.["error_type"]),
    words: words === "" ? `status ${status}` : words,
    param: typeof param === "string" ? param : null,
    isTooLong: tooLong.some((sign) => (typeof sign === "string" ? codes.includes(sign) : sign.test(words))),
    retryAfterSeconds: 1,
  };
}

/** The error that our client gets. Before the first piece, its code says whether another replica may be asked. */
export function refusalError(upstream: Upstream, refusal: Refusal, path: string): LocallmError {
  const { status, words: reason, retryAfterSeconds } = refusal;
  const host = hostOf(upstream);
  if (refusal.isTooLong) return new LocallmError("remote_prompt_too_long", { host, reason });
  if (status === 401 || status === 403) return new LocallmError("remote_unauthorized", { host, reason });
  if (status === 404)
    return new LocallmError("remote_model_missing", { host, reason, path, model: upstream.model });
  if (status === 429 || status === 503 || status === 529)
    return new LocallmError("remote_busy", { host, reason, retryAfterSeconds });
  // 501 says that the engine was started without what this request needs, such as embeddings.
  if ((status >= 400 && status < 500 && status !== 408) || status === 501)
    return new LocallmError("remote_refused", { host, reason });
  return new LocallmError("remote_failed", { host, reason });
}

/**
 * How engines say that the conversation exceeds their window. Codes where they have one (OpenAI; llama-server), words
 * where they have none (vLLM; SGLang; TGI; Ollama and older llama-server; Anthropic), because agents shorten a conversation only if they are told.
 */
const tooLong: readonly (string | RegExp)[] = [
  "context_length_exceeded",
  "exceed_context_size_error",
  /maximum context length/i,
  /longer than the model's context length/i,
  /`inputs` (tokens \+ `max_new_tokens` )?must (be|have)/,
  /exceeds the (available )?context (length|size)/,
  /^prompt is too long/,
];

function wordsOf(
  outer: Record<string, unknown> | null,
  inner: Record<string, unknown> | null,
  body: unknown,
): string {
  if (outer === null) return typeof body === "string" ? engineWords(pageTitle(body) ?? body) : "";
  const detail = outer["detail"];
  const first = Array.isArray(detail) ? asObject(detail[0]) : null;
  const place = Array.isArray(first?.["loc"]) ? `${first["loc"].join(".")}: ` : "";
  const candidates = [inner?.["message"], outer["error"], outer["message"], detail, first?.["msg"]];
  const words = candidates.find((each) => typeof each === "string" && each !== "");
  if (words !== undefined) return engineWords(`${words === first?.["msg"] ? place : ""}${words}`);
  return engineWords(JSON.stringify(body));
}

function pageTitle(text: string): string | null {
  if (!/^\s*<(!doctype|html|head)/i.test(text.slice(0, 1000))) return null;
  const title = /<title[^>]{0,200}>([^<]{0,300})/i.exec(text)?.[1]?.trim() ?? "";
  return `it answered with an HTML page${title === "" ? "" : `: ${title}`}`;
}

/** Errors inside a stream come with status 200: their code or type has the status. */
function statusOf(status: number, code: unknown, type: unknown): number {
  if (status >= 300) return status;
  const number = Number(code);
  if (Number.isInteger(number) && number >= 400 && number < 600) return number;
  return typeof type === "string" ? (typeStatus[type] ?? 500) : 500;
}

const typeStatus: Readonly<Record<string, number>> = {
  BadRequestError: 400,
  invalid_request_error: 400,
  validation: 422,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  overloaded: 503,
  overloaded_error: 529,
  unavailable_error: 503,
};

/** Seconds, or a date, which is compared with the engine's own clock. */
function retryAfter(header: string | string[] | undefined, date: string | string[] | undefined): number {
  const text = String(header ?? "");
  const seconds = /^\d{1,9}$/.test(text)
    ? Number(text)
    : (Date.parse(text) - Date.parse(String(date ?? ""))) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), 1), 3600) : 1;
}
