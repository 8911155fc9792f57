/** Everything that the client throws. `isDataQueryError` also knows errors of another copy of this package. */
export class DevnorsDataError extends Error {
  /** Stable code to branch on, such as `insufficient_balance`. */
  readonly code: string;
  /** HTTP status of the answer, where there was one. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** Headers of the answer, where there was one. */
  readonly headers: Headers | undefined;
  /** Seconds that the server asks to wait. */
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

  /** The class's name; written out, because a minifier changes the one that JavaScript knows. */
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

/** One bad parameter of a request, and what to send in its place. */
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
  /** Family of the code, such as `rate_limit_error`. */
  readonly type: string | undefined;
  /** The parameter at fault, where there is one. */
  readonly param: string | undefined;
  /** What the server says of a second attempt. */
  readonly retryable: boolean | undefined;
  /** What the server advises to do next. */
  readonly nextAction: string | undefined;
  /** Every bad parameter, with its fix. */
  readonly details: readonly ProblemDetail[];
  /** The body as it was parsed, or the beginning of its text where it is not JSON. */
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

/** 400, 405, 413, 415: the request is wrong. */
export class BadRequestError extends APIError {
  static override readonly kind: string = "BadRequestError";
}

/** 401, or no key at all: the key is missing or not valid. */
export class AuthenticationError extends APIError {
  static override readonly kind: string = "AuthenticationError";
}

/** 402: the balance, or the limit that was set, is lower than the cost of the request. */
export class InsufficientBalanceError extends APIError {
  static override readonly kind: string = "InsufficientBalanceError";
  /** Tokens that the call costs. */
  readonly required: number | undefined;
  /** Tokens that are there. */
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

/** 403: the key may not do this. */
export class PermissionDeniedError extends APIError {
  static override readonly kind: string = "PermissionDeniedError";
}

/** 404: no such record, or no such address. */
export class NotFoundError extends APIError {
  static override readonly kind: string = "NotFoundError";
}

/** 409: a request with the same idempotency key is still running. */
export class ConflictError extends APIError {
  static override readonly kind: string = "ConflictError";
}

/** 422: the request is understood and cannot be done as it stands. */
export class UnprocessableError extends APIError {
  static override readonly kind: string = "UnprocessableError";
}

/** 429: too many requests. */
export class RateLimitError extends APIError {
  static override readonly kind: string = "RateLimitError";
}

/** 5xx: the server, or something before it, failed. */
export class ServerError extends APIError {
  static override readonly kind: string = "ServerError";
}

/** No answer came: the network failed. */
export class ConnectionError extends DevnorsDataError {
  static override readonly kind: string = "ConnectionError";
}

/** No answer came in time. */
export class TimeoutError extends ConnectionError {
  static override readonly kind: string = "TimeoutError";
}

/** The caller's AbortSignal ended the call. */
export class AbortError extends DevnorsDataError {
  static override readonly kind: string = "AbortError";
}

/** An option or argument is wrong; nothing was sent. */
export class ConfigurationError extends DevnorsDataError {
  static override readonly kind: string = "ConfigurationError";
}

/** `paginate` stopped before a page that would cost more than what is left of `maxTokens`. */
export class BudgetExceededError extends DevnorsDataError {
  static override readonly kind: string = "BudgetExceededError";
  /** Tokens spent on the pages before. */
  readonly spent: number;
  /** The budget, `maxTokens`. */
  readonly budget: number;

  constructor(spent: number, budget: number, cause?: unknown) {
    super(
      `The next page would cost more than is left of the budget: ${spent} of ${budget} tokens are spent.`,
      {
        code: "budget_exceeded",
        cause,
      },
    );
    this.spent = spent;
    this.budget = budget;
  }
}

/** The class of an error status. */
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
