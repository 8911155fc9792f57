import { type ErrorBody, type ErrorCode, errors, Failure, fill } from "@dataq/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import { scrub } from "./scrub.ts";

/** The one place where failures become HTTP. Returns the code, for the log. */
export function sendFailure(request: FastifyRequest, reply: FastifyReply, failure: Failure): ErrorCode {
  const { status, retryable } = errors[failure.code];
  const body = errorBodyOf(failure, request.id, request.url);
  if (body.retry_after !== undefined) reply.header("retry-after", body.retry_after);
  if (status === 429 || status >= 500) reply.header("x-should-retry", String(retryable));
  if (status === 401)
    reply.header(
      "www-authenticate",
      `Bearer realm="data"${failure.code === "missing_api_key" ? "" : ', error="invalid_token"'}`,
    );
  if (status === 405) reply.header("allow", String(failure.details["allowed"]));
  if (failure.details["replayed"] === true) reply.header("idempotent-replayed", "true");
  const wantsProblem = request.headers.accept?.includes("application/problem+json") ?? false;
  reply
    .code(status)
    .type(wantsProblem ? "application/problem+json; charset=utf-8" : "application/json; charset=utf-8")
    .send(scrub(JSON.stringify(body)));
  return failure.code;
}

/** One body for three readers: a problem document, `retry_after` at top level, and a nested `error`. */
export function errorBodyOf(failure: Failure, requestId: string, url: string): ErrorBody {
  const { code, details } = failure;
  const row = errors[code];
  const retryAfter = details["retry_after"];
  const after = typeof retryAfter === "number" ? { retry_after: Math.max(1, Math.ceil(retryAfter)) } : {};
  return {
    type: `/docs/errors/${code}`,
    title: title(code),
    status: row.status,
    detail: failure.message,
    instance: url.split("?", 1)[0]!,
    code,
    retryable: row.retryable,
    next_action: fill(row.nextAction, { ...details, ...after }),
    request_id: requestId,
    ...after,
    ...(row.status === 402 && billingOf(details)),
    error: {
      type: row.type,
      code,
      message: failure.message,
      param: typeof details["param"] === "string" ? details["param"] : (details.details?.[0]?.param ?? null),
      request_id: requestId,
      ...after,
      details: [...(details.details ?? [])],
    },
  };
}

/** Whatever was thrown, as a failure: what is not one of ours is a fault of ours. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { code, name } = (error ?? {}) as { code?: string; name?: string };
  if (name === "AbortError") return new Failure("client_closed_request", {}, error);
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return new Failure("body_too_large", { limit: 65_536 }, error);
  if (code === "FST_ERR_CTP_INVALID_CONTENT_LENGTH")
    return new Failure("invalid_json", { reason: "its length is not what Content-Length says" }, error);
  if (code !== undefined && isDatabaseAway(code))
    return new Failure("unavailable", { retry_after: 1 }, error);
  return new Failure("internal_error", {}, error);
}

/** PostgreSQL is restarting, full, or not to be reached: https://www.postgresql.org/docs/current/errcodes-appendix.html */
function isDatabaseAway(code: string): boolean {
  return /^(57P0[1-5]|53\d{3}|08\d{3}|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT)$/.test(code);
}

function billingOf(details: Failure["details"]): object {
  const { required, balance, shortfall } = details as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries({ required, balance, shortfall }).filter(([, value]) => typeof value === "number"),
  );
}

function title(code: string): string {
  const words = code.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}
