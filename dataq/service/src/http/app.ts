import type { Socket } from "node:net";
import { Failure, invalid } from "@dataq/contract";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { keyPattern } from "../accounts/key-text.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { enforceAccess } from "./access.ts";
import { named, sendFailure, toFailure } from "./error-reply.ts";
import { hostCheck } from "./host.ts";
import type { HttpParts } from "./parts.ts";
import { scrub } from "./scrub.ts";

/** What handlers record about a request, for its log line. */
export interface RequestNotes {
  operation?: string;
  code?: string;
  /** Why a source failed; for the operator alone. */
  reason?: string;
  tokens?: number;
  cached?: boolean;
  clientRequestId?: string;
}

declare module "fastify" {
  interface FastifyRequest {
    notes: RequestNotes;
    receivedAtMs: number;
  }
  interface FastifyInstance {
    /** Every added route, without the HEAD route that fastify adds for each GET. */
    routeList: readonly RouteName[];
    /** The page for people who open an address without a route; undefined for programs. */
    missing: ((request: FastifyRequest, reply: FastifyReply) => string | undefined) | null;
  }
}

export interface RouteName {
  readonly method: string;
  /** With its parameters as fastify writes them: `/v1/keys/:id`. */
  readonly url: string;
}

/** Calls are not changes that must be seen at once: with many of them, no replica would ever be recent enough. */
function isChange(method: string, url: string | undefined): boolean {
  return method !== "GET" && method !== "HEAD" && url !== "/v1/data/query" && url !== "/mcp";
}

export const BODY_LIMIT_BYTES = 65_536;

interface AppSettings {
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
}

/** The app without routes: ids, headers, access, errors, and one log line per request. `server.ts` adds the routes. */
export function createApp(parts: HttpParts, settings: AppSettings): FastifyInstance {
  const { trustedProxies } = settings;
  const app = fastify({
    // Without a trusted proxy, X-Forwarded-For was written by the caller; request.ip is then the address of the
    // socket.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: () => makeIdentifier("req", parts.clock()),
    logger: false,
    requestTimeout: 30_000,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
    schemaController: { compilersFactory: noSchemas },
    // Fastify runs no hooks if it cannot decode the path.
    frameworkErrors: (error, request, reply) => {
      begin(request, reply);
      request.notes.code = sendFailure(request, reply, undecodable(error, request));
      note(request, reply);
    },
  });
  const checkHost = hostCheck(settings);
  const undecodable = (error: unknown, request: FastifyRequest): Failure => {
    try {
      checkHost(request);
      return toFailure(error);
    } catch (foreign) {
      return toFailure(foreign);
    }
  };
  app.removeAllContentTypeParsers();
  // The body stays bytes until the caller is authenticated. Then each route parses it.
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.decorateRequest("notes");
  app.decorateRequest("receivedAtMs", 0);
  app.decorateRequest("principal", null);
  app.decorateRequest("visitor", null);
  app.decorate("missing", null);
  app.addHook("onRequest", async (request, reply) => {
    begin(request, reply);
    // PostgreSQL cannot store NUL in text.
    if (/%00|\0/.test(request.url))
      throw invalid("url", "control_character", "url contains a NUL character", "remove %00", "请去掉 %00");
    checkHost(request);
  });
  const note = (request: FastifyRequest, reply: FastifyReply) => {
    const { principal, notes } = request;
    const ms = performance.now() - request.receivedAtMs;
    parts.metrics.note(request, reply.statusCode, ms);
    if (principal && request.routeOptions.url === "/v1/data/query")
      parts.requestLog.add({
        id: request.id,
        at: parts.clock(),
        accountId: principal.account.id,
        keyId: principal.id,
        mode: principal.mode,
        route: request.routeOptions.url,
        operation: notes.operation ?? null,
        status: reply.statusCode,
        code: notes.code ?? null,
        reason: notes.reason ?? null,
        cached: notes.cached ?? false,
        latencyMs: Math.round(ms),
        clientRequestId: notes.clientRequestId ?? null,
      });
    parts.logger.info(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? "none",
        status: reply.statusCode,
        ms: Math.round(ms * 10) / 10,
        ...(principal && { account: principal.account.id, key: principal.id }),
        ...(notes.operation && { operation: notes.operation }),
        ...(notes.code && { code: notes.code }),
        ...(notes.reason && { reason: notes.reason }),
        ...(notes.tokens !== undefined && { tokens: notes.tokens }),
        ...(notes.clientRequestId && { client_request_id: notes.clientRequestId }),
      },
      "request",
    );
  };
  app.addHook("onResponse", async (request, reply) => note(request, reply));
  // Before the answer is sent, because the next list may be asked for as soon as it arrives.
  const { reads } = parts.database;
  if (reads.isReplica)
    app.addHook("onSend", async ({ method, routeOptions }) => {
      if (isChange(method, routeOptions.url)) reads.showWrites();
    });
  app.setErrorHandler((error, request, reply) => {
    const failure = toFailure(error, request.headers["content-type"]);
    if (failure.code === "internal_error")
      parts.logger.error({ request_id: request.id, err: failure.cause }, "internal error");
    const reason = reasonOf(failure);
    if (reason !== undefined) request.notes.reason = reason;
    const page = failure.code === "no_such_route" ? app.missing?.(request, reply) : undefined;
    if (page === undefined) request.notes.code = sendFailure(request, reply, failure);
    else {
      request.notes.code = failure.code;
      reply.code(404).send(page);
    }
  });
  endSilentConnections(app);
  app.addHook("preClose", async () => parts.exports.close());
  refuseUnknownRoutes(app);
  app.addHook("preParsing", async ({ headers }) => {
    const encoding = headers["content-encoding"];
    if (encoding !== undefined && !/^identity$/i.test(encoding))
      throw new Failure("unsupported_encoding", named("encoding", encoding.slice(0, 60)));
  });
  enforceAccess(app, parts);
  return app;
}

/** Routes check with the contract's schemas, not with Fastify's, whose compilers it would load at every start. */
const noSchemas = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error("routes check with the schemas of the contract");
}

function begin(request: FastifyRequest, reply: FastifyReply): void {
  request.receivedAtMs = performance.now();
  const proposed = readClientRequestId(request);
  request.notes = proposed === undefined ? {} : { clientRequestId: proposed };
  reply.header("x-request-id", request.id);
  reply.header("x-api-version", "v1");
  if (proposed !== undefined) reply.header("x-client-request-id", proposed);
}

/**
 * Why a source failed, in the words of its connector. Not shown to callers: it may name the operator's vendor.
 */
function reasonOf({ code, cause }: Failure): string | undefined {
  const isOfSource = code === "upstream_error" || code === "upstream_timeout" || code === "unavailable";
  return isOfSource && cause instanceof Error ? scrub(cause.message).slice(0, 500) : undefined;
}

/** Node closes idle connections at the end, but not those that have not sent a request yet. */
function endSilentConnections(app: FastifyInstance): void {
  const silent = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  app.server.on("request", ({ socket }) => silent.delete(socket));
  app.addHook("preClose", async () => {
    for (const socket of silent) socket.destroy();
  });
}

/** Aborted when the client disconnects before the response is complete. */
export function leaveSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  if (reply.raw.destroyed) controller.abort();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** A path that exists for another method is 405 and lists the methods; an unknown path is 404. */
function refuseUnknownRoutes(app: FastifyInstance): void {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  const routeList: RouteName[] = [];
  app.decorate("routeList", routeList);
  app.addHook("onRoute", ({ url, method }) => {
    for (const name of [method].flat()) if (name !== "HEAD") routeList.push({ method: name, url });
    const source = url.replace(/[.+*]/g, "\\$&").replace(/:[^/]+/g, "[^/]+");
    routes.push({ pattern: new RegExp(`^${source}/?$`), methods: [method].flat() });
  });
  const refuse = (request: FastifyRequest) => {
    const path = request.url.split("?", 1)[0]!;
    const allowed = routes.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []));
    if (allowed.length > 0)
      throw new Failure("method_not_allowed", {
        method: request.method,
        path,
        allowed: [...new Set(allowed)].join(", "),
      });
    throw new Failure("no_such_route", { method: request.method, path: path.slice(0, 200) });
  };
  // Before the body is parsed, because fastify has its own errors for some methods without a body. After all
  // onRequest hooks, because one of them answers preflight requests.
  app.addHook("preParsing", async (request) => {
    if (request.is404) refuse(request);
  });
  app.setNotFoundHandler(refuse);
}

function readClientRequestId(request: FastifyRequest): string | undefined {
  const header = request.headers["x-request-id"];
  if (typeof header !== "string" || !/^[A-Za-z0-9._-]{1,64}$/.test(header)) return undefined;
  return header.match(keyPattern) ? undefined : header;
}
