import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip, zstdDecompress } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { checkBody } from "../wire/body.ts";
import { LocallmError } from "../wire/errors.ts";
import { parseJson } from "../wire/json.ts";
import type { BodyShare } from "./body-budget.ts";
import type { BodyTurns } from "./body-turns.ts";

export interface BodyLimits {
  /** The limit for the body as sent and for the decompressed body. */
  readonly maxBytes: number;
  /** The time limit from the first byte to the last. It also applies to the headers. */
  readonly timeoutMs: number;
  /** The memory limit for the bodies of all unanswered requests together. */
  readonly budgetBytes?: number;
}

export const defaultBodyLimits: Required<BodyLimits> = {
  maxBytes: 32 * 2 ** 20,
  timeoutMs: 60_000,
  budgetBytes: 128 * 2 ** 20,
};

/** Returns the validated JSON body. Reports unknown fields in a header and in the log. */
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

/** Reports ignored fields in a header and in the request's log line. Repeated calls add names. */
export function tellIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  const before = reply.getHeader(ignoredHeader);
  const shown = names
    .slice(0, maxIgnoredShown)
    .map((name) => encodeURIComponent(name.slice(0, 80).toWellFormed()));
  const all = [...(before === undefined ? [] : [String(before)]), ...shown].join(", ");
  reply.header(ignoredHeader, all);
  reply.request.logFields["ignored"] = all;
}

const ignoredHeader = "x-ignored-fields";
const maxIgnoredShown = 20;

/** Reads the whole body into memory, for any Content-Type. */
export async function receiveBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  limits: BodyLimits,
  { share, turns }: { readonly share: BodyShare; readonly turns: BodyTurns },
): Promise<Buffer> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limits.maxBytes) throw tooLarge(limits);
  const body = await collect(payload, limits, share);
  const unpacked = await unpack(body, request.headers["content-encoding"], limits);
  share.resize(unpacked.length);
  await turns.take(unpacked.length);
  if (request.raw.socket.destroyed) throw new LocallmError("client_gone", {});
  return unpacked;
}

/** Keeps the connection open on failure, so that the error can still be sent. */
function collect(payload: IncomingMessage, limits: BodyLimits, share: BodyShare): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (error: Error | null) => {
      clearTimeout(timer);
      payload.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
      if (error === null) resolve(Buffer.concat(chunks, size));
      else {
        payload.pause();
        reject(error);
      }
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      try {
        if (size > limits.maxBytes) throw tooLarge(limits);
        share.resize(size);
      } catch (refusal) {
        finish(refusal as LocallmError);
      }
    };
    const onEnd = () => finish(null);
    const onError = (error: Error) => finish(error);
    const onClose = () => finish(new LocallmError("client_gone", {}));
    const timer = setTimeout(
      () => finish(new LocallmError("body_too_slow", { seconds: limits.timeoutMs / 1000 })),
      limits.timeoutMs,
    );
    payload.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
  });
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
