import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { addVary } from "./vary.ts";

const compress = promisify(brotliCompress);

/** A file that browsers load, with its compressed form. */
export interface StaticFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly brotli?: Buffer;
  readonly gzip?: Buffer;
}

export async function staticFile(text: string, type: string): Promise<StaticFile> {
  const plain = Buffer.from(text);
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  const params = { [constants.BROTLI_PARAM_QUALITY]: plain.length > slowBytes ? 8 : 11 };
  return { type, etag, plain, brotli: await compress(plain, { params }) };
}

/** Brotli's best quality takes a second for larger files, and saves a tenth of them. */
const slowBytes = 50_000;

/** Sends the file, or 304 if the browser has it. `vary` names the request headers that chose it. */
export function sendStatic(
  { type, etag, plain, brotli, gzip }: StaticFile,
  request: FastifyRequest,
  reply: FastifyReply,
  vary: readonly string[] = [],
): FastifyReply {
  addVary(reply, ...vary, "Accept-Encoding");
  reply.type(type).headers({
    etag,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    // Browsers ask again each time and get 304 while a file is unchanged.
    "cache-control": "no-cache",
  });
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  const accepted = String(request.headers["accept-encoding"] ?? "");
  if (brotli && /\bbr\b/.test(accepted)) return reply.header("content-encoding", "br").send(brotli);
  if (gzip && /\bgzip\b/.test(accepted)) return reply.header("content-encoding", "gzip").send(gzip);
  return reply.send(plain);
}
