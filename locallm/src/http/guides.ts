import { readdirSync, readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";
import { type StaticFile, sendStatic, staticFile } from "./static-file.ts";

/** The build makes the pages from docs/, see scripts/guides.mjs. */
const folder = new URL(
  import.meta.url.endsWith(".ts") ? "../../dist/guides/" : "../guides/",
  import.meta.url,
);

/** Serves the guides at `/docs`. */
export class Guides {
  readonly #names = new Set(pageNames());
  readonly #files = new Map<string, Promise<StaticFile>>();

  routes(app: FastifyInstance): void {
    app.get("/docs", { config: { quiet: true } }, async (request, reply) =>
      this.#send("index", request, reply),
    );
    app.get("/docs/:name", { config: { quiet: true } }, async (request, reply) =>
      this.#send((request.params as { name: string }).name, request, reply),
    );
  }

  async #send(name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (!this.#names.has(name)) throw new LocallmError("not_found", { path: `/docs/${name}`.slice(0, 200) });
    let file = this.#files.get(name);
    if (file === undefined) {
      file = staticFile(readFileSync(new URL(`${name}.html`, folder), "utf8"), "text/html; charset=utf-8");
      this.#files.set(name, file);
    }
    reply.header(
      "content-security-policy",
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    return sendStatic(await file, request, reply);
  }
}

function pageNames(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".html"))
    .map((name) => name.slice(0, -".html".length));
}
