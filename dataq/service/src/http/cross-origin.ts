import { listHeaders } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";

const EXPOSED = [
  "X-Request-Id",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Should-Retry",
  "X-Tokens-Used",
  "X-Tokens-Balance",
  "X-Tokens-Budget-Left",
  "X-Cache",
  "Age",
  "Idempotent-Replayed",
  "Mcp-Session-Id",
  ...Object.values(listHeaders),
  "X-CSV-Escaped",
].join(", ");

/** Lets pages of the listed origins call; none unless the operator lists them. Cookies are never sent along. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.addHook("onRequest", async (request, reply) => {
    reply.header("vary", "Origin");
    const { origin } = request.headers;
    if (origin === undefined || !origins.includes(origin)) return;
    reply.header("access-control-allow-origin", origin);
    reply.header("access-control-expose-headers", EXPOSED);
    if (request.method !== "OPTIONS" || !request.headers["access-control-request-method"]) return;
    return reply
      .code(204)
      .headers({
        "access-control-allow-methods": "GET, POST, PATCH, DELETE",
        "access-control-allow-headers":
          "Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id, X-Session-Id, X-Tokens-Budget, Prefer, Cache-Control, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name",
        "access-control-max-age": "600",
      })
      .send();
  });
}
