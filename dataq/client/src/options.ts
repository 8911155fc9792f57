import type { Fetch, HttpRequest } from "./exchange.ts";

/** Options of both clients. The environment's `DATAQ_API_KEY` and `DATAQ_BASE_URL` stand in where they are absent. */
export interface ClientOptions extends RetryOptions {
  readonly apiKey?: string | undefined;
  /** Address of the service, without `/v1`. Default `http://127.0.0.1:11435`. */
  readonly baseUrl?: string | undefined;
  /** Headers to send with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Larger answers are refused. Default 64 MiB. */
  readonly maxResponseBytes?: number;
  /** A page that carries the key gives it to every visitor; say so here where that is meant. */
  readonly dangerouslyAllowBrowser?: boolean;
  /** As `apiKey`. */
  readonly api_key?: string | undefined;
  /** As `baseUrl`. */
  readonly base_url?: string | undefined;
}

/** How long to wait and how often to try; for a client, or for one call. */
export interface RetryOptions {
  /** Milliseconds for each attempt. Default 30,000. */
  readonly timeout?: number;
  /** Milliseconds for the whole call, attempts and waits together. Default: no limit. */
  readonly totalTimeout?: number;
  /** Attempts after the first, on 429 and 5xx only. Default 3; 0 disables retries. */
  readonly maxRetries?: number;
  /** Seconds before the second attempt. Default 1. */
  readonly retryDelay?: number;
  /** Each wait is this many times the one before. Default 2. */
  readonly retryBackoff?: number;
  /** Seconds; where the server asks to wait longer, the error is thrown at once. Default 60. */
  readonly maxRetryWait?: number;
  /** Also try again when no answer came. Safe, because every attempt carries the same idempotency key. Default false. */
  readonly retryNetworkErrors?: boolean;
  /** As `maxRetries`. */
  readonly max_retries?: number;
  /** As `retryDelay`. */
  readonly retry_delay?: number;
  /** As `retryBackoff`. */
  readonly retry_backoff?: number;
}

/** Options that only the asynchronous client has: a function cannot cross into the worker of the other. */
export interface AsyncOnlyOptions {
  /** In place of the global `fetch`. */
  readonly fetch?: Fetch;
  /** Handed to every `fetch`, such as a `dispatcher` for a proxy. */
  readonly fetchOptions?: object;
  /** Before each request is sent. The key does not stand in what a hook sees. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** After each answer, also of one that will be tried again. */
  readonly onResponse?: (event: ResponseEvent) => void;
  /** Before each wait for another attempt. */
  readonly onRetry?: (event: RetryEvent) => void;
}

export interface RequestEvent extends HttpRequest {
  /** 1 for the first. */
  readonly attempt: number;
}

export interface ResponseEvent {
  readonly attempt: number;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
}

export interface RetryEvent {
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: Error;
}
