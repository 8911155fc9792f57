import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Permission } from "../keys/api-key.ts";
import type { Caller, Keys } from "../keys/keys.ts";
import type { Purpose } from "../library/abilities.ts";
import { LocallmError } from "../wire/errors.ts";
import { isV1Path } from "./error-reply.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who sent the request. Set before a route runs, except for routes that need nothing. */
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** The route's row of the table below. */
    access?: Row;
  }
}

interface Row {
  /** A permission; `key` for any valid key; `nothing` for routes that everybody may call. */
  readonly needs: Permission | "key" | "nothing";
  /** Whether a request counts towards the key's limits. */
  readonly isLimited: boolean;
  /**
   * True if the route needs a key only after `locallm keys create`, not because of `LOCALLM_API_KEY` alone.
   */
  readonly isOpenWithoutKeys?: true;
  /** What the model that is asked must be made for, and what a refusal calls that. */
  readonly model?: { readonly madeFor: Purpose; readonly asked: string };
}

const open: Row = { needs: "nothing", isLimited: false };
const listing: Row = { needs: "key", isLimited: false };
const asking: Row = { needs: "ask", isLimited: true };
const generating: Row = { ...asking, model: { madeFor: "completion", asked: "generate" } };
const chatting: Row = { ...asking, model: { madeFor: "completion", asked: "chat" } };
const embedding: Row = { ...asking, model: { madeFor: "embedding", asked: "embeddings" } };
const reranking: Row = { ...asking, model: { madeFor: "rerank", asked: "rerank" } };
const managing: Row = { needs: "manage", isLimited: true };

/** What each route needs. A route without a row stops the start. `HEAD` has the row of `GET`. */
export const access: Readonly<Record<string, Row>> = {
  "GET /": open,
  "GET /page/:name": open,
  "GET /docs": open,
  "GET /docs/*": open,
  "GET /openapi.json": open,
  "GET /health": open,
  // Its labels name models and keys.
  "GET /metrics": { needs: "usage", isLimited: false, isOpenWithoutKeys: true },
  "OPTIONS /*": open,

  "GET /api/version": listing,
  "GET /api/usage": listing,
  "GET /api/tags": listing,
  "GET /api/ps": listing,
  "GET /api/catalogue": listing,
  "GET /api/remotes": listing,
  "POST /api/remotes/drain": managing,
  "POST /api/remotes/resume": managing,
  "POST /api/show": listing,
  "GET /api/me": listing,
  "POST /api/me": listing,
  "GET /api/signin": listing,
  "POST /api/signin": listing,
  "GET /api/signout": listing,
  "POST /api/signout": listing,
  "DELETE /api/user/keys/:key": listing,
  "POST /api/experimental/web_search": listing,
  "POST /api/experimental/web_fetch": listing,
  "POST /api/generate": generating,
  "POST /api/chat": chatting,
  "POST /api/embed": embedding,
  "POST /api/embeddings": embedding,
  "POST /api/rerank": reranking,
  "POST /rerank": reranking,
  "POST /v1/rerank": reranking,
  "POST /v2/rerank": reranking,
  "POST /api/tokenize": asking,
  "POST /api/detokenize": asking,
  "POST /api/create": managing,
  "POST /api/copy": managing,
  "DELETE /api/delete": managing,
  "POST /api/pull": managing,
  "POST /api/push": managing,
  "HEAD /api/blobs/:digest": managing,
  "POST /api/blobs/:digest": managing,

  "GET /v1/models": listing,
  "GET /v1/models/*": listing,
  "POST /v1/chat/completions": chatting,
  "POST /v1/completions": generating,
  "POST /v1/embeddings": embedding,
  "POST /v1/responses": chatting,
  "GET /v1/responses/:id": listing,
  "DELETE /v1/responses/:id": listing,
  "GET /v1/responses/:id/input_items": listing,
  "POST /v1/messages": chatting,
  "POST /v1/messages/count_tokens": chatting,
};

/** Finds out who calls and whether the route is permitted, before the body is read. */
export function authorize(app: FastifyInstance, keys: Keys): void {
  app.addHook("onRoute", (route) => {
    const methods = [route.method].flat();
    const row = methods.map((method) => rowOf(method, route.url)).find((found) => found !== undefined);
    if (row === undefined) throw new Error(`http/access.ts has no row for ${methods.join()} ${route.url}`);
    route.config = { ...route.config, access: row };
  });
  app.decorateRequest("caller");
  app.addHook("onRequest", (request, _, done) => {
    const row = request.method === "OPTIONS" ? open : needed(request);
    if (row.needs === "nothing") return done();
    const checked = keys.refresh();
    if (checked === null) {
      check(request, row, keys);
      return done();
    }
    checked.then(() => check(request, row, keys)).then(() => done(), done);
  });
}

function rowOf(method: string, url: string): Row | undefined {
  return access[`${method} ${url}`] ?? (method === "HEAD" ? access[`GET ${url}`] : undefined);
}

/** Unknown paths of the APIs need a key too, so that strangers cannot tell which routes exist. */
function needed(request: FastifyRequest): Row {
  const { access: row } = request.routeOptions.config ?? {};
  return row ?? (request.url.startsWith("/api/") || isV1Path(request.url) ? listing : open);
}

function check(request: FastifyRequest, row: Row, keys: Keys): void {
  const caller = keys.caller(sentKey(request.headers));
  const isOpen = row.isOpenWithoutKeys === true && !keys.exist;
  if (caller === null && isOpen) return;
  if (caller === null) throw new LocallmError("invalid_api_key", {});
  request.caller = caller;
  if (caller.id !== null) request.logFields["key"] = caller.id;
  const { needs } = row;
  if (needs !== "key" && needs !== "nothing" && !caller.may(needs))
    throw new LocallmError("key_forbidden", { permission: needs });
  if (row.isLimited) caller.admit();
}

/** The key of `Authorization: Bearer`, else of `x-api-key`, which Anthropic's clients send. */
function sentKey({ authorization, "x-api-key": apiKey }: IncomingHttpHeaders): string {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? "")?.[1];
  return bearer ?? (typeof apiKey === "string" ? apiKey.trim() : "");
}
