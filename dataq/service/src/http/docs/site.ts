import { fileURLToPath } from "node:url";
import { errors, Failure } from "@dataq/contract";
import { notBuilt, type SiteFile, SiteFiles, sitePolicy } from "@locallm/site-files";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { languageOf } from "../language.ts";

/** The documentation of both products at `/docs`; `/docs` itself leads to this product's in the reader's language. */
export function addDocumentation(app: FastifyInstance): void {
  const files = new SiteFiles(fileURLToPath(new URL("../../../", import.meta.url)));

  app.get("/docs", async (request, reply) => lead(request, reply, "dataq/start"));
  // The type of every error body is this address.
  app.get<{ Params: { code: string } }>("/docs/errors/:code", async (request, reply) => {
    const { code } = request.params;
    if (!Object.hasOwn(errors, code)) return refuse(request, reply, "The error code");
    return lead(request, reply, `dataq/errors#${code}`);
  });
  app.get<{ Params: { "*": string } }>("/docs/*", async (request, reply) => {
    const file = await files.file(request.params["*"]);
    if (file === undefined && !(await files.isBuilt()))
      return reply.code(notBuilt.status).headers(notBuilt.headers).send(notBuilt.page);
    if (file !== undefined) return send(file, request, reply);
    return refuse(request, reply, "The page");
  });

  async function refuse(request: FastifyRequest, reply: FastifyReply, what: string): Promise<FastifyReply> {
    const missing = await files.missing(request.headers.accept);
    if (missing === undefined) throw new Failure("not_found", { what });
    return reply
      .code(missing.status)
      .headers({ ...missing.headers, vary: "accept" })
      .send(missing.page);
  }
}

function lead(request: FastifyRequest, reply: FastifyReply, page: string): FastifyReply {
  const below = languageOf(request.headers["accept-language"]) === "zh" ? "zh/" : "";
  return reply.header("vary", "accept-language").redirect(`/docs/${below}${page}`);
}

function send(
  { type, etag, plain, gzip }: SiteFile,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.headers({
    "content-type": type,
    "content-security-policy": sitePolicy,
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
