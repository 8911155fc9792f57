import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";
import { prefersChinese } from "./reader-language.ts";
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
    return this.#send(await this.#file(name, readPageFile), request, reply, ["Accept"]);
  }

  /** Whether a person opens the address of the request, which has no route, and not a program, or a program's address. */
  misses({ method, url, headers }: FastifyRequest): boolean {
    const isRead = method === "GET" || method === "HEAD";
    const isPage = !/^\/(?:api|v1|docs|page)(?:[/?]|$)/.test(url);
    return isRead && isPage && (headers.accept?.includes("text/html") ?? false);
  }

  /** Answers 404 with a page in the language that the browser prefers. It has the way to the chat page. */
  async missing(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const other = prefersChinese(request.headers["accept-language"]) ? "en" : "zh-CN";
    const file = await this.#file(`missing ${other}`, () => readPageFile("missing.html", other));
    return this.#send(file, request, reply.code(404), ["Accept", "Accept-Language"]);
  }

  #file(name: string, read: (name: string) => Promise<StaticFile>): Promise<StaticFile> {
    const kept = this.#files.get(name);
    if (kept !== undefined) return kept;
    const file = read(name);
    this.#files.set(name, file);
    return file;
  }

  #send(
    file: StaticFile,
    request: FastifyRequest,
    reply: FastifyReply,
    vary: readonly string[],
  ): FastifyReply {
    reply.header("content-security-policy", policy);
    return sendStatic(file, request, reply, vary);
  }
}

/** `hidden` is the language that a page in two languages does not show. */
function readPageFile(name: string, hidden?: "en" | "zh-CN"): Promise<StaticFile> {
  const library = libraries[name];
  if (library !== undefined) {
    const { path, suffix = "" } = library;
    // Its source map is not served.
    const text = readFileSync(new URL(path), "utf8").replace(/\n\/\/# sourceMappingURL=.*/, "");
    return staticFile(text + suffix, "text/javascript; charset=utf-8");
  }
  const text = readFileSync(new URL(name, folder), "utf8");
  const sent = name.endsWith(".ts") ? stripTypeScriptTypes(text) : text.replace("{script}", script);
  if (hidden === undefined) return staticFile(sent, typeOf(name)!);
  const shown = sent.replace(`<main lang="${hidden}">`, `<main lang="${hidden}" hidden>`);
  return staticFile(
    shown.replace('<html lang="en">', `<html lang="${hidden === "en" ? "zh-CN" : "en"}">`),
    typeOf(name)!,
  );
}

function typeOf(name: string): string | undefined {
  return types[name.slice(name.lastIndexOf(".") + 1)];
}
