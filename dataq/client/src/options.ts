import type { Fetch, HttpRequest } from "./exchange.ts";

/** Options of both clients. `DATAQ_API_KEY` and `DATAQ_BASE_URL` in the environment are the defaults. */
export interface ClientOptions extends RetryOptions {
  readonly apiKey?: string | undefined;
  /** Address of the service, without `/v1`. Default `http://127.0.0.1:11435`. */
  readonly baseUrl?: string | undefined;
  /** Headers to send with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Largest accepted answer in bytes. Default 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Set this to use the client in a web page, where every visitor can read the key. */
  readonly dangerouslyAllowBrowser?: boolean;
  /** Same as `apiKey`. */
  readonly api_key?: string | undefined;
  /** Same as `baseUrl`. */
  readonly base_url?: string | undefined;
}

/** Timeouts and retries of a client or of one call. */
export interface RetryOptions {
  /** Milliseconds for each attempt. Default 30,000. */
  readonly timeout?: number;
  /** Milliseconds for the whole call, including retries and waits. Default: no limit. */
  readonly totalTimeout?: number;
  /** Attempts after the first, on 429 and 5xx only. Default 3; 0 disables retries. */
  readonly maxRetries?: number;
  /** Seconds before the second attempt. Default 1. */
  readonly retryDelay?: number;
  /** Each wait is this many times the previous one. Default 2. */
  readonly retryBackoff?: number;
  /**
   * Longest wait in seconds. If the server asks for a longer wait, the error is thrown at once. Default 60.
   */
  readonly maxRetryWait?: number;
  /** Also retry when no answer arrived. Safe, because all attempts have the same idempotency key. Default false. */
  readonly retryNetworkErrors?: boolean;
  /** Same as `maxRetries`. */
  readonly max_retries?: number;
  /** Same as `retryDelay`. */
  readonly retry_delay?: number;
  /** Same as `retryBackoff`. */
  readonly retry_backoff?: number;
}

/** Options of the asynchronous client only: functions cannot be passed to the worker of the synchronous one. */
export interface AsyncOnlyOptions {
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch;
  /** Passed to every `fetch`, for example a `dispatcher` for a proxy. */
  readonly fetchOptions?: object;
  /** Runs before each request. Hooks never see the key. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Runs after each answer, including those that will be retried. */
  readonly onResponse?: (event: ResponseEvent) => void;
  /** Runs before each wait for the next attempt. */
  readonly onRetry?: (event: RetryEvent) => void;
}

export interface RequestEvent extends HttpRequest {
  /** The number of the attempt, from 1. */
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
