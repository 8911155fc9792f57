import type { HttpRequest } from "./exchange.ts";
import type { OperationName, Operations } from "./operations.ts";
import type { RetryOptions } from "./options.ts";
import { readHeaders, refuseUnknown, retryOptionNames, type Settings, wrong } from "./settings.ts";

/** Options of a call, for both clients. */
export interface CallOptions extends RetryOptions {
  /** Sent with every attempt, so that a call is charged once. Default: a new one for each call. */
  readonly idempotencyKey?: string;
  /** Your own name for the request, 1–64 of `A-Z a-z 0-9 . _ -`. The server echoes it. */
  readonly requestId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of one query. */
export interface QueryOptions extends CallOptions {
  /** `bypass`: skip the cache and pay the list price. `only`: answer only from the cache. */
  readonly cache?: "default" | "bypass" | "only";
  /** Return only these fields of each record. */
  readonly fields?: readonly string[];
  /** The snapshot of the index to read, from an earlier answer's `index.snapshot`. */
  readonly snapshot?: string;
  /** Reject the call, free of charge, if it would cost more tokens. */
  readonly maxTokens?: number;
}

/** Only the asynchronous client accepts a signal. */
export interface AsyncCallOptions extends CallOptions {
  /** Cancels the call, also while it waits for the next attempt. */
  readonly signal?: AbortSignal | undefined;
}

export interface AsyncQueryOptions extends QueryOptions, AsyncCallOptions {}

const callOptionNames = [...retryOptionNames, "idempotencyKey", "requestId", "headers"];
const queryOptionNames = [...callOptionNames, "cache", "fields", "snapshot", "maxTokens"];

/** Builds the request of a query. Moves `page` and `page_size` out of the parameters. */
export function queryRequest(
  settings: Settings,
  operation: string,
  params: object,
  options: QueryOptions,
): HttpRequest {
  refuseUnknown(options, queryOptionNames, "call");
  return post(settings, "/v1/data/query", queryBody(operation, params, options), {
    ...headersFor(settings, options),
    "idempotency-key": idempotencyKeyOf(options),
  });
}

function idempotencyKeyOf(options: CallOptions): string {
  const key = options.idempotencyKey ?? newIdempotencyKey();
  if (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw wrong("idempotencyKey", "must be 1–255 characters of printable ASCII without spaces");
  }
  return key;
}

/** One of several queries in a call. */
export type ManyQuery = {
  [Name in OperationName]: {
    readonly operation: Name;
    readonly params: Operations[Name]["params"];
  } & Omit<QueryOptions, keyof CallOptions>;
}[OperationName];

/** Options of a call with several queries. */
export interface ManyOptions extends CallOptions {
  /** Reject the whole call, free of charge, if all queries together would cost more tokens. */
  readonly maxTokens?: number;
}

export interface AsyncManyOptions extends ManyOptions, AsyncCallOptions {}

const mostQueries = 20;

/** Builds the request of several queries in one call. */
export function manyRequest(
  settings: Settings,
  queries: readonly ManyQuery[],
  options: ManyOptions,
): HttpRequest {
  refuseUnknown(options, [...callOptionNames, "maxTokens"], "call");
  if (!Array.isArray(queries) || queries.length < 1 || queries.length > mostQueries)
    throw wrong("queries", `must be a list of 1–${mostQueries} queries`);
  const bodies = queries.map((one: ManyQuery) => {
    const { operation, params, ...own } = Object(one) as ManyQuery;
    refuseUnknown(own, ["cache", "fields", "snapshot", "maxTokens"], "query");
    return queryBody(operation, params, own);
  });
  return post(
    settings,
    "/v1/data/query",
    { queries: bodies, max_tokens: options.maxTokens },
    { ...headersFor(settings, options), "idempotency-key": idempotencyKeyOf(options) },
  );
}

/** Builds the request for the price of a query. */
export function estimateRequest(
  settings: Settings,
  operation: string,
  params: object,
  options: QueryOptions,
): HttpRequest {
  refuseUnknown(options, queryOptionNames, "call");
  return post(
    settings,
    "/v1/data/estimate",
    queryBody(operation, params, options),
    headersFor(settings, options),
  );
}

/** Builds a free request about the account. */
export function getRequest(
  settings: Settings,
  path: string,
  search: Readonly<Record<string, string | undefined>>,
  options: CallOptions,
): HttpRequest {
  refuseUnknown(options, callOptionNames, "call");
  const asked = Object.entries(search).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const query = asked.length === 0 ? "" : `?${new URLSearchParams(asked)}`;
  return { method: "GET", url: settings.baseUrl + path + query, headers: headersFor(settings, options) };
}

function queryBody(operation: string, params: object, options: QueryOptions): object {
  if (typeof operation !== "string" || !/^[a-z]+(_[a-z]+)+$/.test(operation)) {
    throw wrong("operation", "must be a name such as legal_cases");
  }
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    throw wrong("params", 'must be an object such as { query: "民法典" }');
  }
  const { page, page_size, ...rest } = params as { page?: unknown; page_size?: unknown };
  // JSON omits undefined values.
  return {
    domain: operation.slice(0, operation.indexOf("_")),
    operation,
    params: rest,
    page,
    page_size,
    cache: options.cache,
    fields: options.fields,
    snapshot: options.snapshot,
    max_tokens: options.maxTokens,
  };
}

function post(
  settings: Settings,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>>,
): HttpRequest {
  return {
    method: "POST",
    url: settings.baseUrl + path,
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

function headersFor(settings: Settings, { headers, requestId }: CallOptions): Record<string, string> {
  if (requestId !== undefined && !/^[A-Za-z0-9._-]{1,64}$/.test(requestId)) {
    throw wrong("requestId", "must be 1–64 characters of A-Z a-z 0-9 . _ -");
  }
  return {
    accept: "application/json",
    ...settings.headers,
    ...readHeaders(headers),
    ...(requestId === undefined ? {} : { "x-request-id": requestId }),
    authorization: `Bearer ${settings.apiKey}`,
  };
}

/** 128 random bits; `crypto.randomUUID` is missing on pages without https. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
