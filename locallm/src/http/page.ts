import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";

const folder = new URL("../page/", import.meta.url);
/** Sources have `.ts` files, the build has `.js` files. */
const script = import.meta.url.endsWith(".ts") ? "ts" : "js";
const compress = promisify(brotliCompress);

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  [script]: "text/javascript; charset=utf-8",
};

/** The page loads nothing from elsewhere, and no other page can frame it. */
const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  // Browsers ask again each time and get 304 while a file is unchanged.
  "cache-control": "no-cache",
};

interface PageFile {
  type: string;
  etag: string;
  plain: Buffer;
  brotli: Buffer;
}

/** Serves the files of the chat page. They are read, stripped of types and compressed at their first request. */
export class ChatPage {
  readonly #names = new Set(readdirSync(folder).filter((name) => typeOf(name) !== undefined));
  readonly #files = new Map<string, Promise<PageFile>>();

  routes(app: FastifyInstance): void {
    app.get("/page/:name", { config: { quiet: true } }, async (request, reply) =>
      this.send((request.params as { name: string }).name, request, reply),
    );
  }

  /** Whether a browser sent the request, as opposed to another program. */
  isAskedFor(request: FastifyRequest): boolean {
    return request.headers.accept?.includes("text/html") ?? false;
  }

  async send(name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (!this.#names.has(name)) throw new LocallmError("not_found", { path: `/page/${name}`.slice(0, 200) });
    let file = this.#files.get(name);
    if (file === undefined) {
      file = readPageFile(name);
      this.#files.set(name, file);
    }
    const { type, etag, plain, brotli } = await file;
    reply.headers({ ...headers, etag, vary: "Accept, Accept-Encoding" }).type(type);
    if (request.headers["if-none-match"] === etag) return reply.code(304).send();
    const takesBrotli = /\bbr\b/.test(String(request.headers["accept-encoding"] ?? ""));
    return takesBrotli ? reply.header("content-encoding", "br").send(brotli) : reply.send(plain);
  }
}

async function readPageFile(name: string): Promise<PageFile> {
  const text = readFileSync(new URL(name, folder), "utf8");
  const sent = name.endsWith(".ts") ? stripTypeScriptTypes(text) : text.replace("{script}", script);
  const plain = Buffer.from(sent);
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { type: typeOf(name)!, etag, plain, brotli: await compress(plain) };
}

function typeOf(name: string): string | undefined {
  return types[name.slice(name.lastIndexOf(".") + 1)];
}
