import { readFile } from "node:fs/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";
import { type StaticFile, sendStatic, staticFile } from "./static-file.ts";

/** The build makes the pages from docs/, see scripts/guides.mjs. */
const folder = new URL(
  import.meta.url.endsWith(".ts") ? "../../dist/guides/" : "../guides/",
  import.meta.url,
);

const validName = /^[a-z]+(?:[.-][a-z]+)*$/;

/** Serves the guides at `/docs`. */
export class Guides {
  readonly #files = new Map<string, StaticFile>();

  routes(app: FastifyInstance): void {
    app.get("/docs", { config: { quiet: true } }, async (request, reply) =>
      this.#send("index", request, reply),
    );
    app.get("/docs/:name", { config: { quiet: true } }, async (request, reply) =>
      this.#send((request.params as { name: string }).name, request, reply),
    );
  }

  async #send(name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    let file = this.#files.get(name);
    if (file === undefined) {
      const page = await readPage(name);
      if (page === null) throw new LocallmError("not_found", { path: `/docs/${name}`.slice(0, 200) });
      file = await staticFile(page, "text/html; charset=utf-8");
      this.#files.set(name, file);
    }
    reply.header(
      "content-security-policy",
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    return sendStatic(file, request, reply);
  }
}

/** Returns null if there is no such page. */
async function readPage(name: string): Promise<string | null> {
  if (!validName.test(name)) return null;
  try {
    return await readFile(new URL(`${name}.html`, folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
