import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";
import { authorize } from "./access.ts";
import { anthropicRoutes } from "./anthropic/routes.ts";
import { defaultBodyLimits, receiveBody } from "./body.ts";
import { BodyBudget, type BodyShare } from "./body-budget.ts";
import { BodyTurns } from "./body-turns.ts";
import { guard } from "./defences.ts";
import { errorLanguage, errorReply, errorShape } from "./error-reply.ts";
import { accountRoutes } from "./native/accounts.ts";
import { chatRoute } from "./native/chat.ts";
import { embedRoutes } from "./native/embed.ts";
import { generateRoute } from "./native/generate.ts";
import { libraryRoutes } from "./native/library.ts";
import { psRoute } from "./native/ps.ts";
import { remoteRoutes } from "./native/remotes.ts";
import { statusRoutes } from "./native/status.ts";
import { tokenizeRoutes } from "./native/tokenize.ts";
import { usageRoute } from "./native/usage.ts";
import { openAiRoutes } from "./openai/routes.ts";
import { ChatPage } from "./page.ts";
import type { Parts } from "./parts.ts";
import { logRequest } from "./request-log.ts";
import { rerankRoutes } from "./rerank.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The value of `performance.now()` when the headers had arrived. */
    startedMs: number;
    /** Aborted with `client_gone` when the connection closes before the answer is complete. */
    readonly clientGone: AbortSignal;
    /** Null until `clientGone` is read: creating a signal takes longer than answering a small request. */
    goneAbort: AbortController | null;
    /** The body's share of the memory for all bodies. */
    bodyShare: BodyShare;
    /** An error after the first byte. The status is already 200, so only the log shows the error. */
    lateError: unknown;
    /** Fields that a route adds to the request's log line. */
    logFields: Record<string, unknown>;
  }
  interface FastifyContextConfig {
    /** Whether requests to this route are excluded from log and metrics. */
    quiet?: boolean;
  }
}

/** The HTTP server: defences, errors, log and all routes. */
export function createApp(parts: Parts): FastifyInstance {
  const { bodyLimits } = parts.settings;
  const bodies = new BodyBudget(bodyLimits.budgetBytes ?? defaultBodyLimits.budgetBytes);
  const turns = new BodyTurns();
  const app = Fastify({
    logger: false,
    genReqId: requestId,
    rewriteUrl: ({ url = "/" }) => withoutAuthority(url),
    // `receiveBody` limits bodies; blob uploads have their own limits.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    requestTimeout: 0,
    // Close connections whose headers never end.
    http: {
      headersTimeout: parts.settings.bodyLimits.timeoutMs,
      connectionsCheckingInterval: Math.min(parts.settings.bodyLimits.timeoutMs, 30_000),
    },
    forceCloseConnections: "idle",
    clientErrorHandler: refuseBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      // Fastify runs no hooks if it cannot parse the URL.
      begin(request, reply, bodies, parts);
      replyError(error, request, reply, parts);
    },
    routerOptions: { maxParamLength: 1024, ignoreDuplicateSlashes: false },
    schemaController: { compilersFactory: noSchemas },
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: IncomingMessage) =>
    receiveBody(request, payload, bodyLimits, { share: request.bodyShare, turns }),
  );

  app.decorateRequest("startedMs", 0);
  app.decorateRequest("goneAbort", null);
  app.decorateRequest("clientGone", {
    getter() {
      this.goneAbort ??= new AbortController();
      return this.goneAbort.signal;
    },
  });
  app.decorateRequest("bodyShare");
  app.decorateRequest("lateError", null);
  app.decorateRequest("logFields");
  app.addHook("onRequest", (request, reply, done) => {
    begin(request, reply, bodies, parts);
    // Ignore the Content-Type: the route decides between JSON and blob, and curl sends JSON as a form by default.
    // Fastify refuses a QUERY that has none before it looks for the route.
    if (request.headers["content-type"] !== undefined || request.method === "QUERY")
      request.headers["content-type"] = anyType;
    done();
  });
  guard(app, parts.settings.defences);
  authorize(app, parts.keys);

  const methodsOf = collectRoutes(app);
  app.setErrorHandler((thrown: unknown, request, reply) => replyError(thrown, request, reply, parts));
  const page = new ChatPage();
  app.setNotFoundHandler((request, reply) => {
    const error = noRoute(request, methodsOf);
    if (error.code === "not_found" && page.misses(request)) return page.missing(request, reply);
    return replyError(error, request, reply, parts);
  });

  statusRoutes(app, parts, page);
  generateRoute(app, parts);
  chatRoute(app, parts);
  embedRoutes(app, parts);
  rerankRoutes(app, parts);
  psRoute(app, parts);
  remoteRoutes(app, parts);
  usageRoute(app, parts);
  tokenizeRoutes(app, parts);
  accountRoutes(app);
  openAiRoutes(app, parts);
  anthropicRoutes(app, parts);
  libraryRoutes(app, parts);
  return app;
}

const anyType = "application/octet-stream";

/** No route has a schema of Fastify's. Without these, it loads the compilers of schemas at every start. */
const noSchemas = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error("routes check bodies with `readBody`");
}

function begin(request: FastifyRequest, reply: FastifyReply, bodies: BodyBudget, parts: Parts): void {
  request.startedMs = performance.now();
  request.logFields = {};
  request.bodyShare = bodies.open();
  reply.header("x-request-id", request.id);
  reply.raw.on("close", () => end(request, reply, parts));
}

/** Called once per request, also if the client left. */
function end(request: FastifyRequest, reply: FastifyReply, parts: Parts): void {
  const isGone = !reply.raw.writableFinished;
  if (isGone) {
    // A route that reads `clientGone` later must find it aborted.
    request.goneAbort ??= new AbortController();
    request.goneAbort.abort(new LocallmError("client_gone", {}));
  }
  request.bodyShare.release();
  if (request.routeOptions.config?.quiet !== true) logRequest(request, reply, isGone, parts);
}

function replyError(thrown: unknown, request: FastifyRequest, reply: FastifyReply, parts: Parts) {
  const error = knownFastifyError(thrown);
  if (!(error instanceof LocallmError) || error.status >= 500)
    request.logFields = { ...request.logFields, err: error };
  const answer = errorReply(error, {
    shape: errorShape(request),
    language: errorLanguage(request.headers),
    requestId: request.id,
    retryAfterSeconds: () => parts.scheduler.retryAfterSeconds(),
  });
  // Close the connection if the body was not read completely; its rest would be parsed as the next request.
  if (!request.raw.complete && !request.raw.readableFlowing) reply.header("connection", "close");
  return reply.code(answer.status).headers(answer.headers).send(answer.body);
}

/** Translates errors that Fastify raises before our code runs. */
function knownFastifyError(thrown: unknown): unknown {
  const code = (thrown as { code?: unknown } | null)?.code;
  if (code === "FST_ERR_BAD_URL")
    return new LocallmError("not_found", { path: "the path is not a valid URL" });
  return thrown;
}

type MethodsOf = (path: string) => readonly string[];

/** The methods of each path, for 405 and its Allow header. */
function collectRoutes(app: FastifyInstance): MethodsOf {
  const routes: { pattern: RegExp; methods: readonly string[] }[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    if (method === "OPTIONS") return;
    const source = url
      .split("/")
      .map((part) => (part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : RegExp.escape(part)))
      .join("/");
    routes.push({ pattern: new RegExp(`^${source}$`), methods: [method].flat() });
  });
  return (path) => [
    ...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods)),
  ];
}

function noRoute(request: FastifyRequest, methodsOf: MethodsOf): LocallmError {
  const path = (request.url.split("?", 1)[0] ?? "").slice(0, 200);
  const allowed = methodsOf(path);
  if (allowed.length === 0) return new LocallmError("not_found", { path });
  return new LocallmError("method_not_allowed", {
    method: request.method,
    path,
    allowed: allowed.join(", "),
  });
}

/** The path of a request that uses the absolute form of proxies: `GET http://host/path`. */
function withoutAuthority(url: string): string {
  if (url.startsWith("/")) return url;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, "");
  return path === "" ? "/" : path;
}

/** Keeps the client's request ID, so that its log can be matched with ours. */
function requestId(request: { headers: IncomingMessage["headers"] }): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}

/** Answers input that Node could not parse as HTTP, if the socket is still writable. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, text] = brokenRequests[error.code ?? ""] ?? [
    "400 Bad Request",
    "the request is not valid HTTP",
  ];
  const body = JSON.stringify({ error: text });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const brokenRequests: Record<string, [status: string, text: string]> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "the request's headers are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request's headers did not arrive in time"],
};
