export type * from "./account.ts";
export type { RawResponse } from "./answer.ts";
export type { UsageQuery, UsageReport } from "./client-steps.ts";
export type { Clock } from "./clock.ts";
export {
  type AsyncClock,
  type AsyncPages,
  DataQuery,
  DataQuery as AsyncDataQuery,
  type DataQueryOptions,
} from "./data-query.ts";
export { DataQuerySync, type SyncClock, type SyncPages } from "./data-query-sync.ts";
export {
  AbortError,
  APIError,
  AuthenticationError,
  BadRequestError,
  BudgetExceededError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  DevnorsDataError,
  DevnorsDataError as DataQueryError,
  InsufficientBalanceError,
  isDataQueryError,
  NotFoundError,
  PermissionDeniedError,
  type ProblemDetail,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnprocessableError,
  WebhookVerificationError,
} from "./errors.ts";
export type * from "./operations.ts";
export { operationNames } from "./operations.ts";
export type {
  AsyncOnlyOptions,
  ClientOptions,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  RetryOptions,
} from "./options.ts";
export type { PageOptions, PageState } from "./pages.ts";
export type {
  AsyncCallOptions,
  AsyncManyOptions,
  AsyncQueryOptions,
  CallOptions,
  ManyOptions,
  ManyQuery,
  QueryOptions,
} from "./request.ts";
export type { Answer, ManyResult, ParamsOf, RecordOf, ResponseFacts, Result } from "./result.ts";
export { type VerifyOptions, verifyWebhook, type WebhookMessage } from "./webhook.ts";
