import { readEnvironment } from "./config.ts";
import { AuthenticationError, ConfigurationError } from "./errors.ts";
import type { ClientOptions, RetryOptions } from "./options.ts";

export interface Settings {
  readonly apiKey: string;
  /** The base URL without a trailing slash. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly retry: RetrySettings;
}

export interface RetrySettings {
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly maxRetries: number;
  readonly retryDelayS: number;
  readonly retryBackoff: number;
  readonly maxRetryWaitS: number;
  readonly retryNetworkErrors: boolean;
}

export function readSettings(given: ClientOptions): Settings {
  refuseUnknown(given, clientOptionNames, "client");
  const options = joinSpellings(given);
  if (isBrowserPage() && options.dangerouslyAllowBrowser !== true) {
    throw wrong(
      "dangerouslyAllowBrowser",
      "must be true to use the client in a web page, where every visitor can read the key; prefer a server",
    );
  }
  return {
    apiKey: readKey(options.apiKey ?? readEnvironment("DATAQ_API_KEY")),
    baseUrl: readBaseUrl(options.baseUrl ?? readEnvironment("DATAQ_BASE_URL") ?? "http://127.0.0.1:11435"),
    headers: readHeaders(options.headers),
    maxBytes: numberFrom(
      options.maxResponseBytes,
      "maxResponseBytes",
      64 * 1024 * 1024,
      1,
      512 * 1024 * 1024,
    ),
    retry: readRetry(options, defaultRetry),
  };
}

export const defaultRetry: RetrySettings = {
  timeoutMs: 30_000,
  totalTimeoutMs: Number.POSITIVE_INFINITY,
  maxRetries: 3,
  retryDelayS: 1,
  retryBackoff: 2,
  maxRetryWaitS: 60,
  retryNetworkErrors: false,
};

/** Reads the retry options of a call. Omitted options come from the client. */
export function readRetry(given: RetryOptions, base: RetrySettings): RetrySettings {
  const options = joinSpellings(given);
  const longestMs = 86_400_000;
  const retryNetworkErrors = options.retryNetworkErrors ?? base.retryNetworkErrors;
  if (typeof retryNetworkErrors !== "boolean") throw wrong("retryNetworkErrors", "must be true or false");
  return {
    timeoutMs: numberFrom(options.timeout, "timeout", base.timeoutMs, 1, longestMs),
    totalTimeoutMs: numberFrom(options.totalTimeout, "totalTimeout", base.totalTimeoutMs, 1, longestMs),
    maxRetries: wholeFrom(options.maxRetries, "maxRetries", base.maxRetries, 0, 100),
    retryDelayS: numberFrom(options.retryDelay, "retryDelay", base.retryDelayS, 0, 3_600),
    retryBackoff: numberFrom(options.retryBackoff, "retryBackoff", base.retryBackoff, 0, 100),
    maxRetryWaitS: numberFrom(options.maxRetryWait, "maxRetryWait", base.maxRetryWaitS, 0, 86_400),
    retryNetworkErrors,
  };
}

export const retryOptionNames: readonly string[] = [
  ...["timeout", "totalTimeout", "maxRetries", "retryDelay", "retryBackoff", "maxRetryWait"],
  ...["retryNetworkErrors", "max_retries", "retry_delay", "retry_backoff"],
];

const clientOptionNames = [
  ...retryOptionNames,
  ...["apiKey", "baseUrl", "headers", "maxResponseBytes", "dangerouslyAllowBrowser", "api_key", "base_url"],
];

export function requireObject(options: unknown): void {
  if (typeof options === "object" && options !== null) return;
  throw wrong("options", "must be an object such as { apiKey, baseUrl }");
}

/** Rejects unknown options, because plain JavaScript would silently ignore a misspelt one. */
export function refuseUnknown(given: object, known: readonly string[], what: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) throw wrong(unknown, `is not a ${what} option; use one of ${known.join(", ")}`);
}

/** Reads the caller's headers. Rejects headers that the client sets itself. */
export function readHeaders(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    const own = ownHeaders.get(lower);
    if (own !== undefined) throw wrong(`headers.${name}`, `is set by the client; use ${own}`);
    if (
      !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower) ||
      typeof value !== "string" ||
      !/^[\t\x20-\x7e]*$/.test(value)
    ) {
      throw wrong(`headers.${name}`, "must be a header of printable ASCII");
    }
    headers[lower] = value;
  }
  return headers;
}

const ownHeaders = new Map([
  ["authorization", "apiKey"],
  ["x-api-key", "apiKey"],
  ["content-type", "nothing else: it is JSON"],
  ["idempotency-key", "the call's idempotencyKey"],
  ["x-request-id", "the call's requestId"],
]);

export function wrong(option: string, problem: string): ConfigurationError {
  return new ConfigurationError(`${option} ${problem}.`, { code: "invalid_option" });
}

export function numberFrom(
  value: unknown,
  name: string,
  fallback: number,
  least: number,
  most: number,
): number {
  if (value === undefined) return fallback;
  if (typeof value === "number" && value >= least && value <= most) return value;
  throw wrong(name, `must be a number from ${least} to ${most}`);
}

export function wholeFrom(
  value: unknown,
  name: string,
  fallback: number,
  least: number,
  most: number,
): number {
  if (value === undefined || Number.isInteger(value)) return numberFrom(value, name, fallback, least, most);
  throw wrong(name, `must be a whole number from ${least} to ${most}`);
}

/**
 * Accepts both spellings of an option: `max_retries` as in the specification, and `maxRetries` as in
 * JavaScript.
 */
function joinSpellings<Options extends object>(given: Options): Options {
  const joined = { ...given } as Record<string, unknown>;
  for (const [camel, snake] of spellings) {
    if (joined[snake] === undefined) continue;
    if (joined[camel] !== undefined && joined[camel] !== joined[snake]) {
      throw wrong(`${camel} and ${snake}`, "are the same option but have different values");
    }
    joined[camel] = joined[snake];
  }
  return joined as Options;
}

const spellings = [
  ["maxRetries", "max_retries"],
  ["retryDelay", "retry_delay"],
  ["retryBackoff", "retry_backoff"],
  ["apiKey", "api_key"],
  ["baseUrl", "base_url"],
] as const;

function readKey(given: unknown): string {
  const key = typeof given === "string" ? given.trim() : given;
  if (key === undefined || key === "") {
    throw new AuthenticationError("No API key: pass apiKey or set DATAQ_API_KEY.", {
      code: "missing_api_key",
      status: 401,
    });
  }
  if (typeof key !== "string" || !/^[\x21-\x7e]+$/.test(key)) {
    throw wrong("apiKey", "must be printable ASCII without spaces");
  }
  return key;
}

function readBaseUrl(given: unknown): string {
  let url: URL;
  try {
    url = new URL(String(given));
  } catch {
    throw wrong("baseUrl", "must be an address such as http://127.0.0.1:11435");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw wrong("baseUrl", "must start with http:// or https://");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw wrong("baseUrl", "must have no user name, password, query or fragment");
  }
  return url.href.replace(/\/+$/, "");
}

function isBrowserPage(): boolean {
  const { window, document } = globalThis as { window?: unknown; document?: unknown };
  return typeof window === "object" && typeof document === "object";
}
