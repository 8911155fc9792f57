import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";
import { type StaticFile, sendStatic } from "./static-file.ts";

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

/** Serves the documentation of both products at `/docs`; `/docs` itself leads to this product's in the reader's language. */
export function addDocumentation(app: FastifyInstance): void {
  const folder = findSite();
  const files = new Map<string, StaticFile>();

  app.get("/docs", { config: { quiet: true } }, async (request, reply) =>
    reply
      .header("vary", "Accept-Language")
      .redirect(`/docs/${prefersChinese(request.headers["accept-language"]) ? "zh/" : ""}locallm/start`),
  );
  app.get("/docs/*", { config: { quiet: true } }, async (request, reply) =>
    send((request.params as { "*": string })["*"], request, reply),
  );

  async function send(path: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const name = fileName(path);
    const file = files.get(name) ?? (await readSiteFile(folder, name));
    if (file === undefined) throw new LocallmError("not_found", { path: `/docs/${path}`.slice(0, 200) });
    files.set(name, file);
    return sendStatic(file, request, reply.header("content-security-policy", policy));
  }
}

/** Addresses of pages have no ending. */
function fileName(path: string): string {
  if (path === "" || path.endsWith("/")) return `${path}index.html`;
  return types[extname(path)] === undefined ? `${path}.html` : path;
}

async function readSiteFile(folder: string, name: string): Promise<StaticFile | undefined> {
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

/** In the published package the site is next to the code; in the repository it is where the build writes it. */
function findSite(): string {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const packed = join(root, "site");
  return existsSync(join(packed, "index.html")) ? packed : join(root, "..", "site", "dist");
}

/** Whether Chinese stands before English in Accept-Language. Browsers list languages in the order of preference. */
export function prefersChinese(header: string | undefined): boolean {
  return /\b(zh|en)\b/i.exec(header ?? "")?.[1]?.toLowerCase() === "zh";
}
