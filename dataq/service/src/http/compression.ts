import { pipeline, Readable, type Transform } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply } from "fastify";

type Encoding = "br" | "gzip";

/** For smaller answers, compression saves less than its headers cost. */
const MIN_BYTES = 1_024;
/** Higher qualities take several times as long for a few per cent. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** Compresses answers for callers that accept it. Must be called before routes are added. */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, payload) => {
    if (!isCompressible(reply)) return payload;
    reply.header("vary", [reply.getHeader("vary"), "Accept-Encoding"].filter(Boolean).join(", "));
    const encoding = encodingOf(request.headers["accept-encoding"]);
    if (encoding === undefined || request.method === "HEAD") return payload;
    if (payload instanceof Readable) {
      announce(reply, encoding);
      return compressStream(payload, encoding);
    }
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return payload;
    if (Buffer.byteLength(payload) < MIN_BYTES) return payload;
    announce(reply, encoding);
    return encoding === "br" ? compressors.br(payload, brotli) : compressors.gzip(payload);
  });
}

/** Which of the two the caller prefers by Accept-Encoding (RFC 9110, 12.5.3); Brotli if both are equal. */
export function encodingOf(header: string | string[] | undefined): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const part of String(header ?? "")
    .slice(0, 500)
    .split(",")) {
    const [, name, weight] = /^\s*([\w*-]+)\s*(?:;\s*q=([\d.]+)\s*)?$/i.exec(part) ?? [];
    if (name) weights.set(name.toLowerCase(), weight === undefined ? 1 : Number(weight));
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  const [br, zip] = [weightOf("br"), weightOf("gzip")];
  if (!(br > 0 || zip > 0)) return undefined;
  return br >= zip ? "br" : "gzip";
}

function isCompressible(reply: FastifyReply): boolean {
  if (reply.statusCode === 204 || reply.statusCode === 304 || reply.hasHeader("content-encoding"))
    return false;
  // If an answer contains a secret and text that the caller chose, its compressed size would reveal the secret
  // (BREACH).
  if (String(reply.getHeader("cache-control") ?? "").includes("no-store")) return false;
  const type = String(reply.getHeader("content-type") ?? "");
  return /^(?:text\/|application\/(?:[\w.-]+\+)?json|application\/x-ndjson)/i.test(type);
}

function announce(reply: FastifyReply, encoding: Encoding): void {
  reply.header("content-encoding", encoding);
  reply.removeHeader("content-length");
}

/** Flushed as soon as the source pauses, so that a slow stream arrives line by line. */
function compressStream(source: Readable, encoding: Encoding): Transform {
  const compressed = encoding === "br" ? createBrotliCompress(brotli) : createGzip();
  let isFlushDue = false;
  const flush = () => {
    isFlushDue = false;
    if (!compressed.writableEnded && !compressed.destroyed) compressed.flush();
  };
  source.on("data", () => {
    if (isFlushDue) return;
    isFlushDue = true;
    setImmediate(flush);
  });
  // Errors reach the reply through the stream itself.
  return pipeline(source, compressed, () => {});
}
