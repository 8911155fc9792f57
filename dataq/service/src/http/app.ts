import { Failure } from "@dataq/contract";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { callerOf } from "../accounts/address.ts";
import type { Keys, Principal } from "../accounts/key.ts";
import { keyPattern } from "../accounts/key-text.ts";
import type { Scope } from "../accounts/scope.ts";
import type { Database } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { People } from "../people/people.ts";
import type { PipelineParts } from "../query/parts.ts";
import type { RequestLog } from "../query/request-log.ts";
import { assertOwnPage } from "./console/origin.ts";
import { hasCredentials, headersOf, readCredentials } from "./credentials.ts";
import { sendFailure, toFailure } from "./error-reply.ts";
import type { Metrics } from "./metrics.ts";

/** What the routes are made of. Each takes what it needs. */
export interface HttpParts {
  readonly database: Database;
  readonly keys: Keys;
  readonly people: People;
  readonly pipeline: PipelineParts;
  readonly requestLog: RequestLog;
  readonly limiter: Limiter;
  readonly metrics: Metrics;
  readonly clock: () => Date;
  readonly logger: Logger;
}

/** Told by the handlers as they learn it; written as one line when the answer is out. */
export interface RequestNotes {
  principal?: Principal;
  operation?: string;
  code?: string;
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
    /** Every route that was added, without the HEAD that each GET brings. */
    routeList: readonly RouteName[];
  }
}

export interface RouteName {
  readonly method: string;
  /** With its parameters as fastify writes them: `/v1/keys/:id`. */
  readonly url: string;
}

export const BODY_LIMIT_BYTES = 65_536;

/** The empty app: ids, headers, errors, one log line a request. Routes are added by `server.ts`. */
export function createApp(
  parts: Pick<HttpParts, "clock" | "logger" | "requestLog" | "metrics">,
  { trustedProxies }: { readonly trustedProxies: readonly string[] },
): FastifyInstance {
  const app = fastify({
    // Without any, X-Forwarded-For is what a caller wrote, and request.ip is the socket's.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: () => makeIdentifier("req", parts.clock()),
    logger: false,
    requestTimeout: 30_000,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
  });
  app.removeAllContentTypeParsers();
  // The body stays bytes until the caller is known; each route reads it as it needs.
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.decorateRequest("notes");
  app.decorateRequest("receivedAtMs", 0);
  app.addHook("onRequest", async (request, reply) => {
    request.receivedAtMs = performance.now();
    const proposed = readClientRequestId(request);
    request.notes = proposed === undefined ? {} : { clientRequestId: proposed };
    reply.header("x-request-id", request.id);
    reply.header("x-api-version", "v1");
    if (proposed !== undefined) reply.header("x-client-request-id", proposed);
  });
  app.addHook("onResponse", async (request, reply) => {
    const { principal, ...notes } = request.notes;
    const ms = performance.now() - request.receivedAtMs;
    parts.metrics.note(request, reply.statusCode, ms);
    if (principal && request.routeOptions.url === "/v1/data/query")
      parts.requestLog.add({
        id: request.id,
        at: parts.clock(),
        accountId: principal.account.id,
        keyId: principal.key.id,
        mode: principal.key.mode,
        route: request.routeOptions.url,
        operation: notes.operation ?? null,
        status: reply.statusCode,
        code: notes.code ?? null,
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
        ...(principal && { account: principal.account.id, key: principal.key.id }),
        ...(notes.operation && { operation: notes.operation }),
        ...(notes.code && { code: notes.code }),
        ...(notes.tokens !== undefined && { tokens: notes.tokens }),
        ...(notes.clientRequestId && { client_request_id: notes.clientRequestId }),
      },
      "request",
    );
  });
  app.setErrorHandler((error, request, reply) => {
    const failure = toFailure(error, request.headers["content-type"]);
    if (failure.code === "internal_error")
      parts.logger.error({ request_id: request.id, err: failure.cause }, "internal error");
    request.notes.code = sendFailure(request, reply, failure);
  });
  refuseUnknownRoutes(app);
  return app;
}

/** The caller, when the key has the scope. Wrong keys are counted by address, and refused with 429 when too many. */
export async function admit(parts: HttpParts, request: FastifyRequest, scope: Scope): Promise<Principal> {
  const now = parts.clock();
  let principal: Principal;
  try {
    principal =
      (await visitorOf(parts, request)) ??
      (await parts.keys.authenticate(readCredentials(request), request.ip, now, (reason) =>
        parts.logger.warn({ request_id: request.id, ip: request.ip, reason }, "key refused"),
      ));
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "invalid_api_key") throw error;
    const waitS = await parts.limiter.countFailedKey(callerOf(request.ip), now);
    throw waitS === undefined ? error : new Failure("rate_limited", { retry_after: waitS });
  }
  request.notes.principal = principal;
  if (!principal.key.scopes.includes(scope)) throw new Failure("scope_denied", { scope });
  void parts.keys.noteUse(principal.key, now).catch(() => {});
  return principal;
}

/** Somebody signed in at the console, where no key was sent. What changes anything must come from its own pages. */
async function visitorOf(parts: HttpParts, request: FastifyRequest): Promise<Principal | undefined> {
  if (hasCredentials(request)) return undefined;
  const visitor = await parts.people.principalOf(headersOf(request));
  if (visitor && request.method !== "GET" && request.method !== "HEAD") assertOwnPage(request);
  return visitor;
}

/** Aborted when the client leaves before its answer is out. */
export function leaveSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  if (reply.raw.destroyed) controller.abort();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** A path that exists for another method is 405 and says which; one that does not is 404. */
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
  // Before a body is looked at: fastify has errors of its own for some methods without one. After every hook
  // of onRequest: one of them answers browsers that ask what they may send.
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
