import type { Language } from "@dataq/contract";
import { Failure } from "@dataq/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { pastWindows } from "../../maintenance/maintenance.ts";
import { headersOf } from "../credentials.ts";
import { languageOf } from "../language.ts";
import type { HttpParts } from "../parts.ts";
import { missingPage, wantsPage } from "../welcome/missing-page.ts";
import { type Standing, statusPage } from "../welcome/status-page.ts";
import { type Look, Welcome, type WelcomeParts, type WelcomeSettings } from "../welcome/welcome.ts";
import { type ConsoleFile, type ConsoleFiles, readConsole } from "./files.ts";

/**
 * Only the service's own files: no inline code, no frames. `style-src` needs no exception, because the pages set
 * styles through the object model, which the policy does not restrict.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const guards = {
  "content-security-policy": policy,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
};

/**
 * The page for visitors, the console's page and its files. The console's page fetches everything else from the public
 * endpoints.
 */
export function addConsolePages(
  app: FastifyInstance,
  parts: Pick<HttpParts, "people" | "database" | "clock"> &
    WelcomeParts & { readonly status: () => Promise<Standing["status"]> },
  settings: WelcomeSettings,
): void {
  const files = readConsole();
  const welcome = files && new Welcome(parts, files.welcome, settings);

  app.get<{ Querystring: { language?: unknown } }>("/", async (request, reply) => {
    reply.header("vary", "Accept, Accept-Language, Cookie");
    if (request.headers.accept?.includes("text/html")) {
      if (welcome === undefined || (await parts.people.find(headersOf(request))))
        return reply.redirect("/console/");
      const look = chosenLook(request, reply);
      return welcome.page(look, `${request.protocol}://${request.host}`);
    }
    return { name: "dataq", console: "/console/", docs: "/docs", agents: "/llms.txt", status: "/v1/status" };
  });

  app.get<{ Querystring: { language?: unknown } }>("/status", async (request, reply) => {
    reply.header("vary", "Accept-Language, Cookie");
    const look = chosenLook(request, reply);
    const now = parts.clock();
    const monthAgo = new Date(now.getTime() - 30 * 86_400_000);
    const [status, past] = await Promise.all([
      parts.status(),
      pastWindows(parts.database.reads.recent, monthAgo),
    ]);
    return statusPage({ status, past, now }, look, files?.welcome);
  });

  app.missing = (request, reply) => {
    const path = request.url.split("?", 1)[0]!.slice(0, 200);
    if (!wantsPage(request.method, path, request.headers.accept)) return undefined;
    const look = chosenLook(request as FastifyRequest<{ Querystring: { language?: unknown } }>, reply);
    reply.header("vary", "Accept, Accept-Language, Cookie");
    return missingPage(path, look, files?.welcome);
  };

  const answer = async (request: FastifyRequest<{ Params: { "*"?: string } }>, reply: FastifyReply) => {
    reply.headers(guards);
    const path = request.params["*"] ?? "";
    const asset = files?.assets.get(path);
    if (asset) return sendAsset(request, reply, asset);
    const [part] = path.split("/", 1);
    if (part === "assets" || part === "api" || part === "auth")
      throw new Failure("no_such_route", { method: "GET", path: `/console/${part}/…` });
    reply.type("text/html; charset=utf-8").header("cache-control", "no-cache");
    if (!files)
      return reply
        .code(503)
        .send(
          "<!doctype html><title>dataq</title><p>The console is not built. Run: npm run build -w @dataq/console",
        );
    return inLook(files.pages, request);
  };
  app.get("/console", answer);
  app.get("/console/*", answer);
}

/** The look of a page for visitors. The console opens in the language that was chosen on it. */
function chosenLook(
  request: FastifyRequest<{ Querystring: { language?: unknown } }>,
  reply: FastifyReply,
): Look {
  const kept = lookOf(request);
  const { language: chosen } = request.query;
  const look = chosen === "en" || chosen === "zh" ? ({ ...kept, language: chosen } as const) : kept;
  if (look !== kept)
    reply.header(
      "set-cookie",
      `dataq_look=${look.theme}.${look.language}; Path=/; Max-Age=31536000; SameSite=Lax`,
    );
  reply.headers(guards).header("cache-control", "no-cache").type("text/html; charset=utf-8");
  return look;
}

/** Names of files carry a hash of what is in them, so they never change. */
function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: ConsoleFile) {
  reply.headers({
    "content-type": asset.type,
    "cache-control": "public, max-age=31536000, immutable",
    etag: asset.etag,
    vary: "accept-encoding",
  });
  if (request.headers["if-none-match"] === asset.etag) return reply.code(304).send();
  const accepted = String(request.headers["accept-encoding"] ?? "");
  if (asset.brotli && /\bbr\b/.test(accepted))
    return reply.header("content-encoding", "br").send(asset.brotli);
  if (asset.gzip && /\bgzip\b/.test(accepted))
    return reply.header("content-encoding", "gzip").send(asset.gzip);
  return reply.send(asset.bytes);
}

/** The page has the visitor's theme and language from the first byte, so that nothing flickers. */
function inLook(pages: ConsoleFiles["pages"], request: FastifyRequest): string {
  const { theme, language } = lookOf(request);
  return pages[language].replace(
    '<html lang="en" data-theme="system">',
    `<html lang="${language === "zh" ? "zh-CN" : "en"}" data-theme="${theme}">`,
  );
}

/** Visitors who have not chosen a language get the one that their browser prefers. */
function lookOf({ headers }: FastifyRequest): Look {
  const kept = /(?:^|;\s*)dataq_look=(system|light|dark)\.(en|zh)(?:;|$)/.exec(headers.cookie ?? "");
  return {
    theme: (kept?.[1] as Look["theme"] | undefined) ?? "system",
    language: (kept?.[2] as Language | undefined) ?? languageOf(headers["accept-language"]),
  };
}
