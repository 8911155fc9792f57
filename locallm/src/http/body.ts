import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip, zstdDecompress } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { checkBody } from "../wire/body.ts";
import { LocallmError } from "../wire/errors.ts";
import { parseJson } from "../wire/json.ts";

export interface BodyLimits {
  /** Of the body as sent, and of the body once unpacked. */
  readonly maxBytes: number;
  /** From the first byte to the last. */
  readonly timeoutMs: number;
}

export const defaultBodyLimits: BodyLimits = { maxBytes: 32 * 2 ** 20, timeoutMs: 60_000 };

/** The request's JSON, checked. Fields that nobody reads are named in a header and in the log. */
export function readBody<Schema extends z.ZodObject>(
  request: FastifyRequest,
  reply: FastifyReply,
  schema: Schema,
): z.output<Schema> {
  const bytes = request.body;
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) throw new LocallmError("missing_body", {});
  const { body, unknown } = checkBody(schema, parseJson(bytes));
  tellIgnored(reply, unknown);
  return body;
}

/** May be called more than once for a reply; the names add up. */
export function tellIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  const before = reply.getHeader(ignoredHeader);
  const shown = names.slice(0, maxIgnoredShown).map((name) => encodeURIComponent(name.slice(0, 80)));
  reply.header(ignoredHeader, [...(before === undefined ? [] : [String(before)]), ...shown].join(", "));
}

export const ignoredHeader = "x-ignored-fields";
const maxIgnoredShown = 20;

/** Reads a whole body into memory, whatever its Content-Type says. */
export async function receiveBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  limits: BodyLimits,
): Promise<Buffer> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limits.maxBytes) throw tooLarge(limits);
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(
    () => payload.destroy(new LocallmError("body_too_slow", { seconds: limits.timeoutMs / 1000 })),
    limits.timeoutMs,
  );
  try {
    for await (const chunk of payload as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limits.maxBytes) throw tooLarge(limits);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  return unpack(Buffer.concat(chunks, size), request.headers["content-encoding"], limits);
}

async function unpack(body: Buffer, encoding: string | undefined, limits: BodyLimits): Promise<Buffer> {
  const name = encoding?.toLowerCase() ?? "identity";
  if (name === "identity" || name === "") return body;
  const decompress = name === "gzip" ? inflateGzip : name === "zstd" ? inflateZstd : null;
  if (decompress === null) throw new LocallmError("unsupported_encoding", { encoding: name.slice(0, 40) });
  try {
    return await decompress(body, { maxOutputLength: limits.maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limits);
    throw new LocallmError("invalid_json", { reason: `the body is not valid ${name}` }, { cause });
  }
}

const inflateGzip = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);
const inflateZstd = promisify<Buffer, { maxOutputLength: number }, Buffer>(zstdDecompress);

function tooLarge(limits: BodyLimits): LocallmError {
  return new LocallmError("body_too_large", { limitBytes: limits.maxBytes });
}
