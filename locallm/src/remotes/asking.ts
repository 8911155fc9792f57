import { LocallmError } from "../wire/errors.ts";
import type { RemoteCall, RemoteEvent, RemoteResponse, Upstream } from "./engine.ts";
import type { StreamEvent } from "./event-stream.ts";
import { engineWords, hostOf } from "./failure.ts";
import { asText, type JsonObject, jsonOf } from "./json-body.ts";
import { readRefusal, refusalError, refusalOf } from "./refusal.ts";

/** A request body, and its fields that some engines reject. */
export interface Question {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /**
   * Fields that the engine may reject, with their names in our API. A rejected field is left out or replaced
   * by `instead`, and the request is sent again.
   */
  readonly optional: Readonly<Record<string, { readonly ours: string; readonly instead?: JsonObject }>>;
}

export interface Reply {
  readonly response: RemoteResponse;
  /** The names of our API for the fields that the engine rejected. */
  readonly rejected: readonly string[];
  readonly sentBytes: number;
}

/** Sends a question. Throws for any status but 2xx. */
export async function ask(upstream: Upstream, question: Question, call: RemoteCall): Promise<Reply> {
  const url = new URL(`${upstream.url}${question.path}`);
  const body = { ...question.body };
  const removed = new Set<string>();
  while (true) {
    const text = JSON.stringify(body);
    const response = await call.fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...question.headers },
      body: text,
      signal: call.signal,
    });
    if (response.status >= 200 && response.status < 300)
      return {
        response,
        rejected: rejectedWishes(question, body, removed),
        sentBytes: Buffer.byteLength(text),
      };
    const refusal = await readRefusal(upstream, response);
    const mayLeaveOut = [400, 422].includes(refusal.status) && !refusal.isTooLong;
    const names = Object.keys(question.optional).filter((name) => name in body && !removed.has(name));
    const field = mayLeaveOut ? rejectedField(refusal, names) : null;
    if (field === null) throw refusalError(upstream, refusal, url.pathname);
    removed.add(field);
    delete body[field];
    Object.assign(body, question.optional[field]?.instead);
  }
}

/** The options that have no effect: all fields for them were removed and none was replaced. */
function rejectedWishes({ optional }: Question, body: JsonObject, removed: ReadonlySet<string>): string[] {
  const left = new Set(Object.entries(optional).flatMap(([name, { ours }]) => (name in body ? [ours] : [])));
  const lost = [...removed].flatMap((name) => {
    const { ours, instead } = optional[name]!;
    return instead === undefined && !left.has(ours) ? [ours] : [];
  });
  return [...new Set(lost)];
}

/** The optional field that the engine names, as `param` or in quotes in its message. */
function rejectedField(
  { param, words }: { readonly param: string | null; readonly words: string },
  names: readonly string[],
): string | null {
  if (param !== null) {
    const [field = ""] = param.split(/[.[]/);
    if (names.includes(field)) return field;
  }
  return names.find((name) => new RegExp(`['"\`]${name}\\b`).test(words)) ?? null;
}

/** A request without a body, for probes. Null if the engine does not know the path. */
export async function look(
  upstream: Upstream,
  url: URL,
  headers: Readonly<Record<string, string>>,
  call: RemoteCall,
): Promise<RemoteResponse | null> {
  const response = await call.fetch(url, { method: "GET", headers, signal: call.signal, firstByteMs: 5_000 });
  if (response.status >= 200 && response.status < 300) return response;
  const refusal = await readRefusal(upstream, response);
  if ([404, 405, 501].includes(refusal.status)) return null;
  throw refusalError(upstream, refusal, url.pathname);
}

/** The longest line of a stream, or event: a piece with 20 log probabilities a token has about 3 kB. */
export const maxEventBytes = 4 * 1024 * 1024;

interface StreamReader<Item> {
  push(chunk: Uint8Array): Item[];
  end(): Item[];
}

/** Reads a stream in groups that arrived together. Leaving the loop closes the connection. */
export async function* readStream<Item extends StreamEvent | Uint8Array>(
  upstream: Upstream,
  response: RemoteResponse,
  reader: StreamReader<Item>,
): AsyncGenerator<Item[]> {
  try {
    for await (const chunk of response.body) yield inBounds(upstream, () => reader.push(chunk));
    yield inBounds(upstream, () => reader.end());
  } finally {
    response.close();
  }
}

/** Runs code that throws a RangeError when an answer exceeds a bound. */
export function inBounds<Result>(upstream: Upstream, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw brokeOff(upstream, error.message);
  }
}

export function brokeOff(upstream: Upstream, reason: string): LocallmError {
  return new LocallmError("remote_broke_off", { host: hostOf(upstream), reason });
}

/** An event's JSON. */
export function eventJson(upstream: Upstream, data: Uint8Array): unknown {
  const value = jsonOf(data);
  if (value === undefined) throw brokeOff(upstream, "it sent an event that is not valid JSON");
  return value;
}

/** About two million tokens. Answers that are not streamed are collected, so many of them must fit into memory. */
const maxAnswerChars = 8 * 1024 * 1024;

/**
 * Bounds the text, and gives errors the code that says whether another replica may be asked: an error before
 * the first piece is a failed request, and an error after it is an interrupted answer.
 */
export async function* knowingBegin(
  upstream: Upstream,
  events: AsyncIterable<RemoteEvent>,
): AsyncGenerator<RemoteEvent> {
  let hasBegun = false;
  let chars = 0;
  try {
    for await (const event of events) {
      hasBegun ||= event.kind !== "ignored";
      if ("text" in event) chars += event.text.length;
      if (chars > maxAnswerChars)
        throw brokeOff(upstream, `its answer is longer than ${maxAnswerChars} characters`);
      yield event;
    }
  } catch (error) {
    if (!(error instanceof LocallmError) || !error.code.startsWith("remote_")) throw error;
    const host = hostOf(upstream);
    const reason = String(error.details["reason"] ?? error.message);
    if (hasBegun && error.code !== "remote_broke_off")
      throw new LocallmError("remote_broke_off", { host, reason }, { cause: error });
    if (!hasBegun && error.code === "remote_broke_off")
      throw new LocallmError("remote_failed", { host, reason }, { cause: error });
    throw error;
  }
}

export function bearer({ key }: Upstream): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** The most bytes of an answer to a probe. */
export const maxProbeBytes = 1024 * 1024;

/** The fields that another locallm reports as ignored, by their names in its API. */
export function toldIgnored({ headers }: RemoteResponse): string[] {
  const told = asText(headers["x-ignored-fields"]);
  return told === "" ? [] : told.slice(0, 2000).split(", ").map(engineWords);
}

/** Throws if a proxy sends a page instead of an answer. */
export function refusePage(upstream: Upstream, response: RemoteResponse): void {
  if (!/^text\/html\b/i.test(asText(response.headers["content-type"]))) return;
  response.close();
  throw refusalError(upstream, refusalOf(500, "it answered with an HTML page"), "");
}

/** The reason for an answer that ended early without giving one. */
export const unfinished = "it ended in the middle of the answer";
