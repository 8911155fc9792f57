import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";
import type { Parts } from "./parts.ts";

/** Logs one structured line per request, even if the client left. Never logs prompts, answers, headers or queries. */
export function logRequests(app: FastifyInstance, parts: Parts): void {
  app.addHook("onRequest", async (request, reply) => {
    if (request.routeOptions.config.quiet !== true) logRequest(request, reply, parts);
  });
}

/** Logs a request after its end. */
export function logRequest(request: FastifyRequest, reply: FastifyReply, parts: Parts): void {
  reply.raw.once("close", () => writeLine(request, reply, parts));
}

function writeLine(request: FastifyRequest, reply: FastifyReply, parts: Parts): void {
  const status = request.clientGone.aborted ? 499 : (statusOf(request.lateError) ?? reply.raw.statusCode);
  const route = request.routeOptions.url ?? "none";
  parts.metrics.requests.inc({ route, status: String(status) });
  const line = {
    requestId: request.id,
    method: request.method,
    route,
    status,
    ms: Math.round((performance.now() - request.startedMs) * 10) / 10,
    from: request.ip,
    ...(request.lateError ? { err: request.lateError } : {}),
    ...request.logFields,
  };
  if (status >= 500) parts.log.error(line, "request");
  else parts.log.info(line, "request");
}

function statusOf(lateError: unknown): number | null {
  if (lateError === null || lateError === undefined) return null;
  return lateError instanceof LocallmError ? lateError.status : 500;
}
