import { errorOf, type RawResponse, requestIdOf } from "./answer.ts";
import type { Clock } from "./clock.ts";
import { AbortError, ConnectionError, type DevnorsDataError, TimeoutError } from "./errors.ts";
import type { HttpRequest, Outcome } from "./exchange.ts";
import { delayBeforeRetry } from "./retry.ts";
import type { RetrySettings, Settings } from "./settings.ts";

/**
 * What the core asks its client to do: send a request, or wait. The client answers `send` with the outcome. The core
 * is a generator of these steps, so it needs neither promises nor blocking calls.
 */
export type Step =
  | {
      readonly kind: "send";
      readonly request: HttpRequest;
      readonly timeoutMs: number;
      readonly attempt: number;
    }
  | { readonly kind: "wait"; readonly delayMs: number; readonly retry?: FailedAttempt };

interface FailedAttempt {
  readonly attempt: number;
  readonly error: DevnorsDataError;
}

export type Steps<Result> = Generator<Step, Result, Outcome | undefined>;

/** Sends a request until it succeeds or the retry rule stops it. */
export function* call(
  settings: Settings,
  retry: RetrySettings,
  clock: Clock,
  request: HttpRequest,
): Steps<RawResponse> {
  const deadline = clock.now() + retry.totalTimeoutMs;
  for (let attempt = 1; ; attempt++) {
    const timeoutMs = Math.max(1, Math.min(retry.timeoutMs, deadline - clock.now()));
    const outcome = yield { kind: "send", request, timeoutMs, attempt };
    const response = outcome?.kind === "reply" ? readReply(outcome, settings.apiKey, attempt) : undefined;
    if (response !== undefined && response.status >= 200 && response.status < 300) return response;
    const error =
      response !== undefined
        ? errorOf(response, clock.now())
        : failureOf(outcome as Failed, settings, timeoutMs, attempt);
    const delayMs = delayBeforeRetry(retry, error, attempt, clock.random);
    if (delayMs === undefined || clock.now() + delayMs >= deadline) throw error;
    yield { kind: "wait", delayMs, retry: { attempt, error } };
  }
}

type Failed = Extract<Outcome, { kind: "failed" }>;

/** Removes the key from everything that a server returns. */
function readReply(
  reply: Extract<Outcome, { kind: "reply" }>,
  apiKey: string,
  attempts: number,
): RawResponse {
  const headers = new Headers(reply.headers.map(([name, value]) => [name, redact(value, apiKey)]));
  return {
    status: reply.status,
    headers,
    requestId: requestIdOf(headers),
    attempts,
    text: redact(reply.text, apiKey),
  };
}

export function redact(text: string, apiKey: string): string {
  // A very short key could match ordinary text; real keys have 44 characters.
  return apiKey.length >= 8 && text.includes(apiKey) ? text.replaceAll(apiKey, "[key]") : text;
}

/** Whether an error or one of its causes contains the key; a custom `fetch` may put it there. */
function tells(error: unknown, apiKey: string): boolean {
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 8; depth++) {
    const { message, stack, cause } = Object(at) as Partial<Error>;
    if (`${message} ${stack}`.includes(apiKey)) return true;
    at = cause;
  }
  return false;
}

function failureOf(
  outcome: Failed,
  settings: Settings,
  timeoutMs: number,
  attempts: number,
): DevnorsDataError {
  const cause = tells(outcome.error, settings.apiKey) ? undefined : outcome.error;
  const message = redact(outcome.message, settings.apiKey);
  switch (outcome.reason) {
    case "aborted":
      return new AbortError("The call was aborted.", { code: "aborted", attempts, cause });
    case "timeout":
      return new TimeoutError(`${settings.baseUrl} did not respond within ${timeoutMs} ms.`, {
        code: "timeout",
        attempts,
        cause,
      });
    case "too_large":
      return new ConnectionError(
        `The response is larger than ${settings.maxBytes} bytes. Request smaller pages or raise maxResponseBytes.`,
        {
          code: "response_too_large",
          attempts,
          cause,
        },
      );
    case "network":
      return new ConnectionError(`The connection to ${settings.baseUrl} failed: ${message}.`, {
        code: outcome.code ?? "network_error",
        attempts,
        cause,
      });
  }
}
