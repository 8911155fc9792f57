/**
 * The base of all errors that the client throws. It has the name that the older published client gave it, so that
 * programs written for that one work unchanged; `DataQueryError` is the same class. `isDataQueryError` also recognises
 * errors of another copy of this package.
 */
export class DevnorsDataError extends Error {
  /** A stable code, such as `insufficient_balance`. */
  readonly code: string;
  /** HTTP status of the response, if there was one. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** Headers of the response, if there was one. */
  readonly headers: Headers | undefined;
  /** Seconds to wait before a retry, if the server sent them. */
  readonly retryAfter: number | undefined;
  /** How many requests were sent for this call. */
  readonly attempts: number;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.kind;
    this.code = details.code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.headers = details.headers;
    this.retryAfter = details.retryAfter;
    this.attempts = details.attempts ?? 0;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Set explicitly, because minifiers rename classes. */
  static readonly kind: string = "DevnorsDataError";
}

const brand = Symbol.for("dataq.error");

export interface ErrorDetails {
  readonly code: string;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly headers?: Headers | undefined;
  readonly retryAfter?: number | undefined;
  readonly attempts?: number | undefined;
  readonly cause?: unknown;
}

export function isDataQueryError(value: unknown): value is DevnorsDataError {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}

/** An invalid parameter and its fix. */
export interface ProblemDetail {
  readonly param: string;
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

export interface ApiErrorDetails extends ErrorDetails {
  readonly type?: string | undefined;
  readonly param?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly nextAction?: string | undefined;
  readonly details?: readonly ProblemDetail[];
  readonly body?: unknown;
}

/** The server answered with an error. */
export class APIError extends DevnorsDataError {
  static override readonly kind: string = "APIError";
  /** Error type, such as `rate_limit_error`. */
  readonly type: string | undefined;
  /** The invalid parameter, if there is one. */
  readonly param: string | undefined;
  /** Whether the server says that a retry can help. */
  readonly retryable: boolean | undefined;
  /** The next step that the server suggests. */
  readonly nextAction: string | undefined;
  /** All invalid parameters with their fixes. */
  readonly details: readonly ProblemDetail[];
  /** The parsed body, or the start of its text if it is not JSON. */
  readonly body: unknown;

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details);
    this.type = details.type;
    this.param = details.param;
    this.retryable = details.retryable;
    this.nextAction = details.nextAction;
    this.details = details.details ?? [];
    this.body = details.body;
  }
}

/** 400, 405, 413, 415: the request is invalid. */
export class BadRequestError extends APIError {
  static override readonly kind: string = "BadRequestError";
}

/** 401: the API key is missing or invalid. Also thrown when no key is configured. */
export class AuthenticationError extends APIError {
  static override readonly kind: string = "AuthenticationError";
}

/** 402: the call costs more than the balance or a spending limit. */
export class InsufficientBalanceError extends APIError {
  static override readonly kind: string = "InsufficientBalanceError";
  /** The price of the call, in tokens. */
  readonly required: number | undefined;
  /** The balance, in tokens. */
  readonly balance: number | undefined;
  readonly shortfall: number | undefined;
  readonly topUpUrl: string | undefined;

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details);
    const body = (typeof details.body === "object" ? details.body : null) as Record<string, unknown> | null;
    this.required = asNumber(body?.["required"]);
    this.balance = asNumber(body?.["balance"]);
    this.shortfall = asNumber(body?.["shortfall"]);
    this.topUpUrl = typeof body?.["top_up_url"] === "string" ? body["top_up_url"] : undefined;
  }
}

/** 403: the key does not have permission. */
export class PermissionDeniedError extends APIError {
  static override readonly kind: string = "PermissionDeniedError";
}

/** 404: the record or the address does not exist. */
export class NotFoundError extends APIError {
  static override readonly kind: string = "NotFoundError";
}

/** 409: a request with the same idempotency key is still running. */
export class ConflictError extends APIError {
  static override readonly kind: string = "ConflictError";
}

/** 422: the request is well-formed but cannot be processed. */
export class UnprocessableError extends APIError {
  static override readonly kind: string = "UnprocessableError";
}

/** 429: too many requests. */
export class RateLimitError extends APIError {
  static override readonly kind: string = "RateLimitError";
}

/** 5xx: the server or a gateway failed. */
export class ServerError extends APIError {
  static override readonly kind: string = "ServerError";
}

/** The network failed: no response arrived. */
export class ConnectionError extends DevnorsDataError {
  static override readonly kind: string = "ConnectionError";
}

/** No response arrived in time. */
export class TimeoutError extends ConnectionError {
  static override readonly kind: string = "TimeoutError";
}

/** The caller's AbortSignal cancelled the call. */
export class AbortError extends DevnorsDataError {
  static override readonly kind: string = "AbortError";
}

/** An option or argument is invalid; nothing was sent. */
export class ConfigurationError extends DevnorsDataError {
  static override readonly kind: string = "ConfigurationError";
}

/** A message to a webhook is not from the service, was changed, or is too old. */
export class WebhookVerificationError extends DevnorsDataError {
  static override readonly kind: string = "WebhookVerificationError";
}

/** `paginate` stopped because the next page would exceed `maxTokens`. */
export class BudgetExceededError extends DevnorsDataError {
  static override readonly kind: string = "BudgetExceededError";
  /** Tokens spent on the previous pages. */
  readonly spent: number;
  /** The budget, `maxTokens`. */
  readonly budget: number;

  constructor(spent: number, budget: number, cause?: unknown) {
    super(`The next page would exceed the budget: ${spent} of ${budget} tokens are spent.`, {
      code: "budget_exceeded",
      cause,
    });
    this.spent = spent;
    this.budget = budget;
  }
}

/** Returns the error class for an HTTP status. */
export function classOfStatus(status: number): typeof APIError {
  if (status >= 500) return ServerError;
  return byStatus.get(status) ?? APIError;
}

const byStatus = new Map<number, typeof APIError>([
  [400, BadRequestError],
  [401, AuthenticationError],
  [402, InsufficientBalanceError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [405, BadRequestError],
  [409, ConflictError],
  [413, BadRequestError],
  [415, BadRequestError],
  [422, UnprocessableError],
  [429, RateLimitError],
]);

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
