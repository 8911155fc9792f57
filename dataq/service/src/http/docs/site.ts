import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { errors, Failure } from "@dataq/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { languageOf } from "../language.ts";

/** The site loads nothing from elsewhere, runs no inline code, and no other page can frame it. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};
/** No part begins with a dot, so none leads out of the folder. */
const validPath = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

interface SiteFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

/** The documentation of both products at `/docs`; `/docs` itself leads to this product's in the reader's language. */
export function addDocumentation(app: FastifyInstance): void {
  const folder = findSite();
  const files = new Map<string, SiteFile>();

  app.get("/docs", async (request, reply) => lead(request, reply, "dataq/start"));
  // The type of every error body is this address.
  app.get<{ Params: { code: string } }>("/docs/errors/:code", async (request, reply) => {
    const { code } = request.params;
    if (!Object.hasOwn(errors, code)) throw new Failure("not_found", { what: "The error code" });
    return lead(request, reply, `dataq/errors#${code}`);
  });
  app.get<{ Params: { "*": string } }>("/docs/*", async (request, reply) => {
    const name = fileName(request.params["*"]);
    const file = files.get(name) ?? (await readSiteFile(folder, name));
    if (file === undefined) throw new Failure("not_found", { what: "The page" });
    files.set(name, file);
    return send(file, request, reply);
  });
}

function lead(request: FastifyRequest, reply: FastifyReply, page: string): FastifyReply {
  const below = languageOf(request.headers["accept-language"]) === "zh" ? "zh/" : "";
  return reply.header("vary", "accept-language").redirect(`/docs/${below}${page}`);
}

/** Addresses of pages have no ending. */
function fileName(path: string): string {
  if (path === "" || path.endsWith("/")) return `${path}index.html`;
  return types[extname(path)] === undefined ? `${path}.html` : path;
}

async function readSiteFile(folder: string, name: string): Promise<SiteFile | undefined> {
  if (!validPath.test(name)) return undefined;
  try {
    const [plain, gzip] = await Promise.all([
      readFile(join(folder, name)),
      readFile(join(folder, `${name}.gz`)),
    ]);
    const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    return { type: types[extname(name)]!, etag, plain, gzip };
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR", "ENAMETOOLONG"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return undefined;
    throw error;
  }
}

function send(
  { type, etag, plain, gzip }: SiteFile,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.headers({
    "content-type": type,
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    // Browsers ask again each time and get 304 while a file is unchanged.
    "cache-control": "no-cache",
    vary: "accept-encoding",
    etag,
  });
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  const takesGzip = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  return takesGzip ? reply.header("content-encoding", "gzip").send(gzip) : reply.send(plain);
}

/** In the published package the site is next to the code; in the repository it is where the build writes it. */
function findSite(): string {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const packed = join(root, "site");
  return existsSync(join(packed, "index.html")) ? packed : join(root, "..", "..", "site", "dist");
}
