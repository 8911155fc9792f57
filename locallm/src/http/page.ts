import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";
import { type StaticFile, sendStatic, staticFile } from "./static-file.ts";

const folder = new URL("../page/", import.meta.url);
/** Sources have `.ts` files, the build has `.js` files. */
const script = import.meta.url.endsWith(".ts") ? "ts" : "js";

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  [script]: "text/javascript; charset=utf-8",
};

/**
 * Libraries of the page, each one file. `suffix` makes a module of one that is a script. The page loads those for colours
 * and formulas with the first code and the first formula.
 */
const libraries: Readonly<Record<string, { path: string; suffix?: string }>> = {
  "markdown-it.js": { path: import.meta.resolve("markdown-it/browser") },
  "highlight.js": { path: import.meta.resolve("@highlightjs/cdn-assets/es/highlight.min.js") },
  "temml.js": {
    path: import.meta.resolve("temml/dist/temml.min.js"),
    suffix: "\nexport default temml;\n",
  },
};

/**
 * The page loads nothing from elsewhere, no other page can frame it, and no text becomes markup (`trusted-types`), in
 * browsers that know that rule.
 */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Serves the files of the chat page. They are read, stripped of types and compressed at their first request. */
export class ChatPage {
  readonly #names = new Set([
    ...readdirSync(folder).filter((name) => typeOf(name) !== undefined && !name.includes(".test.")),
    ...Object.keys(libraries),
  ]);
  readonly #files = new Map<string, Promise<StaticFile>>();

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
    reply.header("content-security-policy", policy);
    return sendStatic(await file, request, reply, ["Accept"]);
  }
}

function readPageFile(name: string): Promise<StaticFile> {
  const library = libraries[name];
  if (library !== undefined) {
    const { path, suffix = "" } = library;
    // Its source map is not served.
    const text = readFileSync(new URL(path), "utf8").replace(/\n\/\/# sourceMappingURL=.*/, "");
    return staticFile(text + suffix, "text/javascript; charset=utf-8");
  }
  const text = readFileSync(new URL(name, folder), "utf8");
  const sent = name.endsWith(".ts") ? stripTypeScriptTypes(text) : text.replace("{script}", script);
  return staticFile(sent, typeOf(name)!);
}

function typeOf(name: string): string | undefined {
  return types[name.slice(name.lastIndexOf(".") + 1)];
}
