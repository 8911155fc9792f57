import { LocallmError } from "../wire/errors.ts";
import { parseJson } from "../wire/json.ts";
import type { RemoteResponse, Upstream } from "./engine.ts";
import { hostOf } from "./failure.ts";

export type JsonObject = Record<string, unknown>;

/** Reads a whole answer. Throws `remote_failed` if it exceeds the limit. */
export async function readBytes(
  upstream: Upstream,
  response: RemoteResponse,
  limitBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > limitBytes)
      throw new LocallmError("remote_failed", {
        host: hostOf(upstream),
        reason: `its answer is larger than ${limitBytes} bytes`,
      });
    chunks.push(chunk);
    // Otherwise an answer in chunks of one byte would occupy a hundred times its size.
    if (chunks.length === 1024) chunks.splice(0, 1024, Buffer.concat(chunks));
  }
  return Buffer.concat(chunks);
}

/** Reads a whole answer that must be a JSON object. */
export async function readObject(
  upstream: Upstream,
  response: RemoteResponse,
  limitBytes: number,
): Promise<JsonObject> {
  const body = asObject(jsonOf(await readBytes(upstream, response, limitBytes)));
  if (body === null)
    throw new LocallmError("remote_failed", {
      host: hostOf(upstream),
      reason: "its answer is not a JSON object",
    });
  return body;
}

export function isJson({ headers }: Pick<RemoteResponse, "headers">): boolean {
  return /^application\/json\b/i.test(asText(headers["content-type"]));
}

/** Undefined if the bytes are not JSON, or nested too deep, or have too many values. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch {
    return undefined;
  }
}

export function asObject(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A duration or an index. Null if the value is not a number from 0 on, or too large to be exact. */
export function asAmount(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** A number of tokens. Null if the value is not a whole number, or more than any engine computes for a request. */
export function asCount(value: unknown): number | null {
  const amount = asAmount(value);
  return amount !== null && Number.isInteger(amount) && amount <= mostTokens ? amount : null;
}

const mostTokens = 1e9;
