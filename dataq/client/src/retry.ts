import { APIError, ConnectionError, type DevnorsDataError } from "./errors.ts";
import type { RetrySettings } from "./settings.ts";

/**
 * Milliseconds to wait before the next attempt, or undefined if there is no next attempt. Implements section
 * 7 of the specification: only 429 and 5xx are retried. The wait is `retryDelay × retryBackoff^n ± 0.5 s`. If
 * the server sends `retry_after`, the wait is that long and never shorter. `failed` counts the attempts so
 * far; `random` is called once for each wait.
 */
export function delayBeforeRetry(
  retry: RetrySettings,
  error: DevnorsDataError,
  failed: number,
  random: () => number,
): number | undefined {
  if (failed > retry.maxRetries || !mayRetry(retry, error)) return undefined;
  if (error.retryAfter !== undefined) {
    if (error.retryAfter > retry.maxRetryWaitS) return undefined;
    return (error.retryAfter + random() * jitterS) * 1_000;
  }
  const seconds = retry.retryDelayS * retry.retryBackoff ** (failed - 1) + (random() * 2 - 1) * jitterS;
  return Math.min(Math.max(0, seconds), longestWaitS) * 1_000;
}

const jitterS = 0.5;
const longestWaitS = 86_400;

function mayRetry(retry: RetrySettings, error: DevnorsDataError): boolean {
  if (error instanceof ConnectionError) return retry.retryNetworkErrors;
  if (!(error instanceof APIError) || error.status === undefined) return false;
  if (error.status === 429) return true;
  // The only exception to the rule: the server says that a retry cannot help, as with 501.
  const hopeless =
    error.retryable === false || error.headers?.get("x-should-retry")?.toLowerCase() === "false";
  return error.status >= 500 && !hopeless;
}
