import { Failure } from "@dataq/contract";
import type { FastifyRequest } from "fastify";
import { keyPattern } from "../accounts/key-text.ts";

/** The key in the Authorization or X-API-Key header. Throws 401 failures. */
export function readCredentials(request: FastifyRequest): string {
  if (decode(request.url).match(keyPattern)) throw new Failure("key_in_url");
  const bearer = readBearer(request.headers.authorization);
  const header = request.headers["x-api-key"];
  const plain = (Array.isArray(header) ? header[0] : header)?.trim() || undefined;
  if (bearer !== undefined && plain !== undefined && bearer !== plain)
    throw new Failure("ambiguous_credentials");
  const text = bearer ?? plain;
  if (text !== undefined) return text;
  if (Buffer.isBuffer(request.body) && request.body.toString("latin1").match(keyPattern))
    throw new Failure("key_in_url");
  throw new Failure("missing_api_key");
}

/** Whether the request has a key; then its cookies are ignored. */
export function hasCredentials(request: FastifyRequest): boolean {
  return request.headers.authorization !== undefined || request.headers["x-api-key"] !== undefined;
}

/** The headers as a `Headers` object. */
export function headersOf(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, String(value));
  return headers;
}

function readBearer(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const match = /^Bearer +(\S+) *$/i.exec(header);
  // Another authentication scheme counts as a wrong key, not as a missing one.
  if (!match) throw new Failure(header.trim() === "" ? "missing_api_key" : "invalid_api_key");
  return match[1];
}

function decode(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
