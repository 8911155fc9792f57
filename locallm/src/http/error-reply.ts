import { LocallmError } from "../wire/errors.ts";

/** An error as an HTTP answer. Only this file knows the error formats of both APIs. */
export interface ErrorReply {
  readonly status: number;
  readonly body: NativeErrorBody | OpenAiErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

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

export interface ErrorContext {
  /** The request's path: under `/v1` errors have OpenAI's shape. */
  readonly path: string;
  readonly requestId: string;
  readonly retryAfterSeconds: () => number;
}

/** Turns anything thrown into an answer. Hides the details of errors that are not a `LocallmError`. */
export function errorReply(thrown: unknown, context: ErrorContext): ErrorReply {
  const error =
    thrown instanceof LocallmError
      ? thrown
      : new LocallmError("internal", { requestId: context.requestId }, { cause: thrown });
  const headers: Record<string, string> = {};
  if (error.status === 503) headers["retry-after"] = String(context.retryAfterSeconds());
  if (error.status === 401) headers["www-authenticate"] = "Bearer";
  if (error.code === "method_not_allowed") headers["allow"] = String(error.details["allowed"]);
  return { status: error.status, body: errorBody(error, context.path), headers };
}

function errorBody(error: LocallmError, path: string): NativeErrorBody | OpenAiErrorBody {
  return isOpenAiPath(path) ? openAiBody(error) : { error: error.message };
}

export function isOpenAiPath(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/") || path.startsWith("/v1?");
}

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
  if (error.code === "queue_full") return "server_overloaded";
  if (error.status === 401) return "authentication_error";
  if (error.code === "model_not_found") return "not_found_error";
  return error.status < 500 ? "invalid_request_error" : "api_error";
}

const openAiCodes: Partial<Record<LocallmError["code"], string>> = {
  model_not_found: "model_not_found",
  not_found: "unknown_url",
  invalid_api_key: "invalid_api_key",
  unsupported_parameter: "unsupported_parameter",
  prompt_too_long: "context_length_exceeded",
  input_too_long: "context_length_exceeded",
  input_cut_away: "context_length_exceeded",
};

const openAiParams: Partial<Record<LocallmError["code"], string>> = {
  model_required: "model",
  messages_empty: "messages",
  invalid_model_name: "model",
  model_not_found: "model",
};
