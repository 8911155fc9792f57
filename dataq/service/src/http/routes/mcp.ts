import { Readable } from "node:stream";
import { Failure, invalid } from "@dataq/contract";
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { makeIdentifier } from "../../database/identifier.ts";
import type { Api } from "../../mcp/api.ts";
import { isTool } from "../../mcp/tools.ts";
import { BODY_LIMIT_BYTES, leaveSignal } from "../app.ts";
import { readJson } from "../body.ts";
import { bodyLimitOf, mostBodyBytes } from "../body-limit.ts";
import { takeAllowance } from "../call-limits.ts";
import { principalOf } from "../caller.ts";
import { isLocalHost } from "../host.ts";
import type { HttpParts } from "../parts.ts";

/** A message nests a call's body inside the protocol's envelope, so it has more levels than a plain body. */
const MAX_DEPTH = 16;
/** The envelope around the parameters of a long call. */
const ENVELOPE_BYTES = 4_096;
/** The service never announces changes, so a client has no reason to keep a stream open for them. */
const MAX_SUBSCRIPTIONS = 32;

/** Headers of the caller that set its identity, its address and the terms of the call. */
const PASSED_ON = [
  "authorization",
  "x-api-key",
  "cookie",
  "x-console",
  "origin",
  "sec-fetch-site",
  "host",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "forwarded",
  "user-agent",
  "accept-language",
  "x-request-id",
  "x-tokens-budget",
] as const;

/** Connects a request that a tool sends to the signal that cancels it. */
const CALL_HEADER = "x-mcp-call";

interface Message {
  readonly method?: unknown;
  readonly id?: unknown;
  readonly params?: { readonly name?: unknown; readonly requestId?: unknown };
}

/**
 * The Model Context Protocol over HTTP. A tool sends a request to this same service with the caller's credentials, so
 * that access, limits, prices, ledger, logs and metrics are those of the route that it calls. Nothing is kept between
 * messages: a session is a name.
 */
export function addMcpRoute(
  app: FastifyInstance,
  parts: HttpParts,
  { origins }: { readonly origins: readonly string[] },
): void {
  const signals = new Map<string, AbortSignal>();
  /** Requests that run in a session, so that a later message can cancel them. */
  const running = new Map<string, AbortController>();
  let handler: Promise<McpHttpHandler> | undefined;

  app.addHook("onRequest", async (request, reply) => {
    const signal = signals.get(String(request.headers[CALL_HEADER] ?? ""));
    if (signal === undefined) return;
    const leave = () => reply.raw.destroy();
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
  app.addHook("preClose", async () => (await handler)?.close());

  app.post("/mcp", { bodyLimit: mostBodyBytes + ENVELOPE_BYTES }, async (request, reply) => {
    refuseForeignOrigins(request, origins);
    const message = readMessage(request);
    const principal = principalOf(request);
    // A call of a tool has the limits of the route that it calls.
    if (message.method !== "tools/call" || !isTool(message.params?.name))
      await takeAllowance(parts, principal, 1);
    const session = sessionOf(request);
    const keyOf = (id: unknown) => JSON.stringify([principal.id, session, id]);
    if (message.method === "notifications/cancelled") running.get(keyOf(message.params?.requestId))?.abort();

    const cancel = new AbortController();
    const key = keyOf(message.id);
    const signal = AbortSignal.any([leaveSignal(reply), cancel.signal]);
    if (session !== undefined && message.id !== undefined && !reply.raw.destroyed) {
      running.set(key, cancel);
      reply.raw.once("close", () => running.get(key) === cancel && running.delete(key));
    }
    handler ??= openHandler(parts);
    const response = await (await handler).fetch(webRequest(request, signal), {
      parsedBody: message,
      authInfo: {
        token: "",
        clientId: principal.id,
        scopes: [...principal.scopes],
        extra: { api: ownApi(app, request, session, signal, signals) },
      },
    });
    if (message.method === "initialize" && response.ok)
      reply.header("mcp-session-id", makeIdentifier("mcp", parts.clock()));
    return send(reply, response);
  });
}

/** The SDK takes 12 MB, so it is loaded with the first message. */
async function openHandler({ logger }: HttpParts): Promise<McpHttpHandler> {
  const { createMcpHandler } = await import("@modelcontextprotocol/server");
  const { mcpServer } = await import("../../mcp/mcp-server.ts");
  return createMcpHandler(({ authInfo }) => mcpServer(authInfo!.extra!["api"] as Api), {
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror: (error) => logger.warn({ err: error.message }, "MCP request failed"),
  });
}

/** The service itself, called by a tool as the caller of `request`. */
function ownApi(
  app: FastifyInstance,
  request: FastifyRequest,
  session: string | undefined,
  leaving: AbortSignal,
  signals: Map<string, AbortSignal>,
): Api {
  const headers = Object.fromEntries(
    PASSED_ON.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])),
  );
  return {
    async send({ path, body, signal: unwanted }) {
      const signal = AbortSignal.any([leaving, unwanted]);
      signal.throwIfAborted();
      const call = crypto.randomUUID();
      signals.set(call, signal);
      try {
        const answer = await app.inject({
          method: body === undefined ? "GET" : "POST",
          url: path,
          remoteAddress: request.socket.remoteAddress ?? "127.0.0.1",
          headers: {
            ...headers,
            ...(session !== undefined && { "x-session-id": session }),
            [CALL_HEADER]: call,
          },
          ...(body !== undefined && { payload: body }),
        });
        return { status: answer.statusCode, body: answer.json() };
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        signals.delete(call);
      }
    },
  };
}

/** The session that the caller names, or the ID that `initialize` gave to the client. */
function sessionOf({ headers }: FastifyRequest): string | undefined {
  const named = headers["x-session-id"] ?? headers["mcp-session-id"];
  return named === undefined ? undefined : String(named);
}

function readMessage(request: FastifyRequest): Message {
  const message = readJson(request, { maxDepth: MAX_DEPTH });
  if (typeof message === "object" && message !== null && !Array.isArray(message)) {
    const bytes = (request.body as Buffer | undefined)?.length ?? 0;
    const limit = limitOf(message);
    if (bytes > limit) throw new Failure("body_too_large", { limit });
    return message;
  }
  throw invalid(
    "body",
    "type",
    "the body must be one JSON-RPC message",
    "send one message per request",
    "每个请求只发送一条消息",
  );
}

/** Only the call of a tool with long parameters may be longer than other bodies. */
function limitOf({ method, params }: Message): number {
  const limit = bodyLimitOf({ operation: method === "tools/call" ? params?.name : undefined });
  return limit === BODY_LIMIT_BYTES ? limit : limit + ENVELOPE_BYTES;
}

/** A page of another site must not call, even with a stolen key. */
function refuseForeignOrigins({ headers }: FastifyRequest, origins: readonly string[]): void {
  const { origin, host } = headers;
  if (origin === undefined || origins.includes(origin)) return;
  const from = URL.canParse(origin) ? new URL(origin).host : "";
  if (from !== "" && (from === host || (isLocalHost(from) && isLocalHost(host)))) return;
  throw new Failure("origin_not_allowed", { origin: origin.slice(0, 100) });
}

function webRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, String(value));
  return new Request("http://localhost/mcp", { method: "POST", headers, signal });
}

function send(reply: FastifyReply, response: Response): FastifyReply {
  reply.code(response.status);
  for (const [name, value] of response.headers) reply.header(name, value);
  if (response.body === null) return reply.send();
  return reply.send(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]));
}
