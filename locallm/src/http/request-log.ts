import type { FastifyReply, FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";
import type { Parts } from "./parts.ts";

/**
 * Logs an ended request in one structured line, even if the client left. Never logs prompts, answers, headers
 * or queries.
 */
export function logRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  isGone: boolean,
  parts: Parts,
): void {
  const status = isGone ? 499 : (statusOf(request.lateError) ?? reply.raw.statusCode);
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
  else if ("err" in line) parts.log.info(line, "request");
  else parts.writeRequest(line);
}

function statusOf(lateError: unknown): number | null {
  if (lateError === null || lateError === undefined) return null;
  return lateError instanceof LocallmError ? lateError.status : 500;
}
