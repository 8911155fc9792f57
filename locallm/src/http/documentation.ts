import { fileURLToPath } from "node:url";
import { notBuilt, SiteFiles, sitePolicy } from "@locallm/site-files";
import type { FastifyInstance } from "fastify";
import { LocallmError } from "../wire/errors.ts";
import { prefersChinese } from "./reader-language.ts";
import { sendStatic } from "./static-file.ts";
import { addVary } from "./vary.ts";

/** Serves the description of the API, and the documentation of both products at `/docs`; `/docs` itself leads to this product's in the reader's language. */
export function addDocumentation(app: FastifyInstance, version: string): void {
  const files = new SiteFiles(fileURLToPath(new URL("../../", import.meta.url)));

  let described: string | undefined;
  app.get("/openapi.json", { config: { quiet: true } }, async (_, reply) => {
    // Few ask for it, and making it takes some time.
    described ??= JSON.stringify((await import("./openapi.ts")).openApi(version));
    return reply.type("application/json").send(described);
  });
  app.get("/docs", { config: { quiet: true } }, async (request, reply) =>
    reply
      .header("vary", "Accept-Language")
      .redirect(`/docs/${prefersChinese(request.headers["accept-language"]) ? "zh/" : ""}locallm/start`),
  );
  app.get<{ Params: { "*": string } }>("/docs/*", { config: { quiet: true } }, async (request, reply) => {
    const path = request.params["*"];
    const file = await files.file(path);
    if (file === undefined && !(await files.isBuilt()))
      return reply.code(notBuilt.status).headers(notBuilt.headers).send(notBuilt.page);
    if (file !== undefined)
      return sendStatic(file, request, reply.header("content-security-policy", sitePolicy));
    const missing = await files.missing(request.headers.accept);
    if (missing === undefined) throw new LocallmError("not_found", { path: `/docs/${path}`.slice(0, 200) });
    addVary(reply, "Accept");
    return reply.code(missing.status).headers(missing.headers).send(missing.page);
  });
}
