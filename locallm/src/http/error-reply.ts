import type { FastifyRequest } from "fastify";
import { LocallmError } from "../wire/errors.ts";

/** An error as an HTTP answer. Only this file knows the error formats of the APIs. */
export interface ErrorReply {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

export type ErrorBody = NativeErrorBody | OpenAiErrorBody | AnthropicErrorBody;

interface NativeErrorBody {
  readonly error: string;
}

interface OpenAiErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

interface AnthropicErrorBody {
  readonly type: "error";
  readonly error: { readonly type: string; readonly message: string };
  readonly request_id: string;
}

export type ErrorShape = "native" | "openai" | "anthropic";

export interface ErrorContext {
  readonly shape: ErrorShape;
  /** Of the chat page's reader; English without it. Only the native shape can be Chinese. */
  readonly language?: "en" | "zh";
  readonly requestId: string;
  readonly retryAfterSeconds: () => number;
}

/** The format that the client expects: under `/v1` OpenAI's or Anthropic's. */
export function errorShape({ url, headers }: Pick<FastifyRequest, "url" | "headers">): ErrorShape {
  if (!isV1Path(url)) return "native";
  return isAnthropicPath(url) || speaksAnthropic(headers) ? "anthropic" : "openai";
}

/**
 * The chat page says in which language its reader reads. `Accept-Language` does not count: browsers send it for every
 * page, and clients of Ollama look for its English words.
 */
export function errorLanguage(headers: FastifyRequest["headers"]): "en" | "zh" {
  return headers["x-locallm-language"] === "zh" ? "zh" : "en";
}

/** Anthropic's clients send this header with every request. */
export function speaksAnthropic(headers: FastifyRequest["headers"]): boolean {
  return headers["anthropic-version"] !== undefined;
}

/** Turns anything thrown into an answer. Hides the details of errors that are not a `LocallmError`. */
export function errorReply(thrown: unknown, context: ErrorContext): ErrorReply {
  const error =
    thrown instanceof LocallmError
      ? thrown
      : new LocallmError("internal", { requestId: context.requestId }, { cause: thrown });
  const headers: Record<string, string> = {};
  const { retryAfterSeconds } = error.details;
  if (retryAfterSeconds !== undefined) headers["retry-after"] = String(retryAfterSeconds);
  else if (error.status === 503) headers["retry-after"] = String(context.retryAfterSeconds());
  if (error.status === 401) headers["www-authenticate"] = "Bearer";
  if (error.code === "method_not_allowed") headers["allow"] = String(error.details["allowed"]);
  return { status: error.status, body: errorBody(error, context), headers };
}

function errorBody(error: LocallmError, { shape, requestId, language }: ErrorContext): ErrorBody {
  switch (shape) {
    case "native":
      return { error: language === "zh" ? error.chinese : error.message };
    case "openai":
      return openAiBody(error);
    case "anthropic":
      return {
        type: "error",
        error: { type: anthropicType(error), message: error.message },
        request_id: requestId,
      };
  }
}

export function isV1Path(path: string): boolean {
  return isBelow(path, "/v1");
}

function isAnthropicPath(path: string): boolean {
  return isBelow(path, "/v1/messages");
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder) && ["", "/", "?"].includes(path.charAt(folder.length));
}

function anthropicType({ code, status }: LocallmError): string {
  if (status === 503) return "overloaded_error";
  if (code === "body_too_large") return "request_too_large";
  if (status >= 500) return "api_error";
  return anthropicTypes[status] ?? "invalid_request_error";
}

const anthropicTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
};

function openAiBody(error: LocallmError): OpenAiErrorBody {
  return {
    error: {
      message: error.message,
      type: openAiType(error),
      param: error.field ?? openAiParams[error.code] ?? null,
      code: openAiCodes[error.code] ?? null,
    },
  };
}

function openAiType(error: LocallmError): string {
  if (error.code === "queue_full" || error.code === "remote_busy") return "server_overloaded";
  if (error.status === 401) return "authentication_error";
  if (error.code === "key_rate_exceeded") return "requests";
  if (error.code === "key_tokens_used_up") return "tokens";
  if (error.code === "model_not_found" || error.code === "response_not_found") return "not_found_error";
  return error.status < 500 ? "invalid_request_error" : "api_error";
}

const openAiCodes: Partial<Record<LocallmError["code"], string>> = {
  model_not_found: "model_not_found",
  not_found: "unknown_url",
  previous_response_not_found: "previous_response_not_found",
  invalid_api_key: "invalid_api_key",
  key_rate_exceeded: "rate_limit_exceeded",
  key_tokens_used_up: "rate_limit_exceeded",
  key_forbidden: "insufficient_permissions",
  key_limited_to_models: "insufficient_permissions",
  unsupported_parameter: "unsupported_parameter",
  prompt_too_long: "context_length_exceeded",
  prompt_over_limit: "context_length_exceeded",
  remote_prompt_too_long: "context_length_exceeded",
  input_too_long: "context_length_exceeded",
  input_cut_away: "context_length_exceeded",
};

const openAiParams: Partial<Record<LocallmError["code"], string>> = {
  model_required: "model",
  messages_empty: "messages",
  previous_response_not_found: "previous_response_id",
  invalid_model_name: "model",
  model_not_found: "model",
};
