import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { guardedLookup } from "../network/private-address.ts";
import { hostOf, isAllowedAddress, needsHttps, type TargetRule } from "./targets.ts";

/** An `import` would also load Node's `fetch`, which takes 9 MiB. */
const http = process.getBuiltinModule("node:http");

/** What an endpoint answered, or why there is no answer. */
export type Outcome =
  | { readonly status: number; readonly answer: string; readonly error: null }
  | { readonly status: null; readonly answer: null; readonly error: string };

export interface PostOptions {
  readonly rule: TargetRule;
  /** The time limit of the whole exchange, from the DNS lookup to the end of the answer. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

const LONGEST_ANSWER = 1_000;

/**
 * Posts a message on a connection of its own and follows no redirect. Every connection looks the name up once, and
 * connects only to an address that was checked.
 */
export async function post(
  target: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  { rule, limitMs, signal }: PostOptions,
): Promise<Outcome> {
  const url = new URL(target);
  const isPlain = url.protocol === "http:";
  const isAllowed = (address: string) =>
    isAllowedAddress(address, rule) && !(isPlain && needsHttps(address, rule));
  const host = hostOf(url);
  // Node calls `lookup` only for names.
  if (isIP(host) !== 0 && !isAllowed(host)) return failed(refused.message);
  const limit = AbortSignal.timeout(limitMs);
  const signals = signal ? AbortSignal.any([limit, signal]) : limit;
  try {
    const send = isPlain ? http.request : httpsRequest;
    const request = send(url, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json; charset=utf-8",
        "content-length": Buffer.byteLength(body),
        "user-agent": "dataq-webhooks/1",
      },
      agent: false,
      lookup: guardedLookup(isAllowed, () => refused),
      signal: signals,
      maxHeaderSize: 16_384,
    });
    request.end(body);
    const response = await answerTo(request);
    const answer = await startOf(response);
    request.destroy();
    return { status: response.statusCode ?? 0, answer, error: null };
  } catch (error) {
    if (limit.aborted) return failed(`No complete answer within ${limitMs / 1000} s.`);
    return failed(reasonOf(error as NodeJS.ErrnoException));
  }
}

const refused = new Error("This service does not send webhooks to this address.");

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    // After the answer, the request can still fail, for example when it is destroyed.
    request.on("error", reject);
  });
}

async function startOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    // UTF-8 has up to four bytes for a character.
    if (length >= LONGEST_ANSWER * 4) break;
  }
  const text = Buffer.concat(chunks).toString("utf8").replaceAll("\0", "\uFFFD");
  return [...text.slice(0, LONGEST_ANSWER * 2)].slice(0, LONGEST_ANSWER).join("");
}

function failed(error: string): Outcome {
  return { status: null, answer: null, error };
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error === refused) return refused.message;
  switch (error.code) {
    case "ECONNREFUSED":
      return "The connection was refused.";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "The host name could not be resolved.";
    case "ECONNRESET":
    case "EPIPE":
      return "The connection was closed without a complete answer.";
    default:
      return `The request failed: ${error.code ?? error.message}`.slice(0, 200);
  }
}
