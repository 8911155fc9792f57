import {
  type ErrorBody,
  type ErrorCode,
  errors,
  errorsZh,
  Failure,
  fill,
  invalid,
  type Language,
  type PartHeld,
  problemZh,
} from "@dataq/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isAway } from "../database/connection-loss.ts";
import { languageOf } from "./language.ts";
import { scrub } from "./scrub.ts";

/** Turns a failure into an HTTP response; no other file does. Returns the code for the log. */
export function sendFailure(request: FastifyRequest, reply: FastifyReply, failure: Failure): ErrorCode {
  const { status, retryable } = errors[failure.code];
  const language = languageOf(request.headers["accept-language"]);
  const body = errorBodyOf(failure, request.id, request.url, language);
  if (body.retry_after !== undefined) reply.header("retry-after", body.retry_after);
  if (status === 429 || status >= 500) reply.header("x-should-retry", String(retryable));
  if (status === 401)
    reply.header(
      "www-authenticate",
      `Bearer realm="data"${failure.code === "missing_api_key" ? "" : ', error="invalid_token"'}`,
    );
  if (status === 405) reply.header("allow", String(failure.details["allowed"]));
  if (failure.details["replayed"] === true) reply.header("idempotent-replayed", "true");
  reply.header("content-language", language === "zh" ? "zh-CN" : "en");
  const vary = String(reply.getHeader("vary") ?? "");
  if (!vary.includes("Accept-Language"))
    reply.header("vary", vary === "" ? "Accept-Language" : `${vary}, Accept-Language`);
  const wantsProblem = request.headers.accept?.includes("application/problem+json") ?? false;
  reply
    .code(status)
    .type(wantsProblem ? "application/problem+json; charset=utf-8" : "application/json; charset=utf-8")
    .send(scrub(JSON.stringify(body)));
  return failure.code;
}

/** One body for three kinds of clients: a problem document, `retry_after` at top level, and a nested `error`. */
export function errorBodyOf(
  failure: Failure,
  requestId: string,
  url: string,
  language: Language = "en",
): ErrorBody {
  const { code, details } = failure;
  const row = errors[code];
  const retryAfter = details["retry_after"];
  const after = typeof retryAfter === "number" ? { retry_after: Math.max(1, Math.ceil(retryAfter)) } : {};
  const text = language === "zh" ? textZh(failure, after) : textEn(failure, after);
  return {
    type: `/docs/errors/${code}`,
    title: language === "zh" ? errorsZh[code].title : titleEn(code),
    status: row.status,
    detail: text.message,
    instance: url.split("?", 1)[0]!,
    code,
    retryable: row.retryable,
    next_action: text.nextAction,
    request_id: requestId,
    ...after,
    ...(row.status === 402 && billingOf(details)),
    ...(details["coverage"] !== undefined && { coverage: details["coverage"] as PartHeld }),
    ...(code === "insufficient_balance" && { top_up_url: "/console/top-up" }),
    error: {
      type: row.type,
      code,
      message: text.message,
      param: typeof details["param"] === "string" ? details["param"] : (details.details?.[0]?.param ?? null),
      request_id: requestId,
      ...after,
      details: text.problems,
    },
  };
}

interface ErrorText {
  readonly message: string;
  readonly nextAction: string;
  readonly problems: { param: string; code: string; message: string; fix: string }[];
}

function textEn({ code, message, details }: Failure, after: object): ErrorText {
  return {
    message,
    nextAction: asSentence(fill(errors[code].nextAction, { ...details, ...after }), "."),
    problems: (details.details ?? []).map(({ fixZh: _other, ...problem }) => problem),
  };
}

function textZh({ code, details }: Failure, after: object): ErrorText {
  const problems = (details.details ?? []).map(({ fixZh, ...problem }) => ({
    ...problem,
    message: problemZh(problem),
    fix: fixZh ?? problem.fix,
  }));
  const listed = problems.map(({ message, fix }) => (fix ? `${message}（${fix}）` : message)).join("；");
  const values = {
    ...details,
    ...(details["zh"] as object),
    ...after,
    problems: listed,
    fix: problems[0]?.fix ?? details["fix"],
  };
  const { message, nextAction } = errorsZh[code];
  return { message: fill(message, values), nextAction: asSentence(fill(nextAction, values), "。"), problems };
}

/** A fix is part of a sentence in the details. As the next action it is a sentence of its own. */
function asSentence(text: string, stop: "." | "。"): string {
  if (text === "") return text;
  return text[0]!.toUpperCase() + text.slice(1) + (/[.!?。！？]$/.test(text) ? "" : stop);
}

/** Converts anything thrown into a failure. An unknown error becomes an internal error. */
export function toFailure(error: unknown, contentType = ""): Failure {
  if (error instanceof Failure) return error;
  const { code, name } = (error ?? {}) as { code?: string; name?: string };
  if (name === "AbortError") return new Failure("client_closed_request", {}, error);
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return new Failure("body_too_large", { limit: 65_536 }, error);
  if (code === "FST_ERR_CTP_INVALID_CONTENT_LENGTH")
    return new Failure("invalid_json", { reason: "its length does not match Content-Length" }, error);
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE" || code === "FST_ERR_CTP_EMPTY_TYPE")
    return new Failure("unsupported_media_type", named("type", shownType(contentType)), error);
  if (code === "FST_ERR_BAD_URL")
    return invalid(
      "url",
      "invalid_encoding",
      "url cannot be decoded",
      "encode the path as UTF-8, and % as %25",
      "请按 UTF-8 编码路径，% 写作 %25",
    );
  if (code === "FST_ERR_MAX_PARAM_LENGTH")
    return invalid(
      "url",
      "too_big",
      "url has a part that is too long",
      "send at most 200 characters between two slashes",
      "两个斜杠之间至多 200 个字符",
    );
  if (isAway(error)) return new Failure("unavailable", { retry_after: 1 }, error);
  return new Failure("internal_error", {}, error);
}

/** A media type and its charset as a message shows them. */
export function shownType(contentType: string): string {
  const [type, ...parameters] = contentType.split(";").map((part) => part.trim());
  const charset = parameters.filter((parameter) => /^charset=/i.test(parameter));
  return [type, ...charset].join("; ").slice(0, 60);
}

/** The value of a header for the message of an error; an empty one is called so in the message's language. */
export function named(detail: string, value: string): Failure["details"] {
  return value === "" ? { [detail]: "empty", zh: { [detail]: "空" } } : { [detail]: value };
}

function billingOf(details: Failure["details"]): object {
  const { required, balance, shortfall } = details as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries({ required, balance, shortfall }).filter(([, value]) => typeof value === "number"),
  );
}

function titleEn(code: string): string {
  const words = code.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}
