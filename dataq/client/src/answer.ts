import { APIError, type ApiErrorDetails, classOfStatus, type ProblemDetail } from "./errors.ts";

/** A raw response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  /** How many requests were sent. */
  readonly attempts: number;
  readonly text: string;
}

/** Parses the JSON object of a successful response. */
export function parseObject(response: RawResponse): Record<string, unknown> {
  const body = parse(response.text);
  if (isObject(body)) return body;
  throw new APIError(
    `The response is not a JSON object. Check that baseUrl is the address of a dataq service. The response starts with: ${snippet(response.text)}`,
    { ...basics(response), code: "invalid_response", body: snippet(response.text) },
  );
}

/**
 * Makes the error for a status outside 200–299. `now` is in milliseconds since 1970, for `Retry-After` dates.
 */
export function errorOf(response: RawResponse, now: number): APIError {
  const { status, headers } = response;
  const parsed = parse(response.text);
  const body = isObject(parsed) ? parsed : {};
  const nested = isObject(body["error"]) ? body["error"] : {};
  const code = textOf(body["code"]) ?? textOf(nested["code"]) ?? fallbackCode(status);
  const said = textOf(body["detail"]) ?? textOf(nested["message"]) ?? textOf(body["title"]);
  const nextAction = textOf(body["next_action"]);
  const details: ApiErrorDetails = {
    ...basics(response),
    code,
    requestId: response.requestId ?? textOf(body["request_id"]),
    retryAfter: retryAfterOf(body, nested, headers, now),
    type: textOf(nested["type"]),
    param: textOf(nested["param"]),
    retryable: typeof body["retryable"] === "boolean" ? body["retryable"] : undefined,
    nextAction,
    details: detailsOf(nested["details"]),
    body: isObject(parsed) ? parsed : snippet(response.text),
  };
  const message = said ?? describe(response);
  const suffix = [`${status} ${code}`, details.requestId].filter(Boolean).join(", ");
  const next = nextAction === undefined ? "" : ` Next: ${nextAction.replace(/[.。]$/, "")}.`;
  return new (classOfStatus(status))(`${message} (${suffix})${next}`, details);
}

export function requestIdOf(headers: Headers): string | undefined {
  return headers.get("x-request-id")?.slice(0, 200) ?? undefined;
}

/** The retry delay in seconds, from the body or else from the header, which may be a date. */
function retryAfterOf(
  body: Record<string, unknown>,
  nested: Record<string, unknown>,
  headers: Headers,
  now: number,
): number | undefined {
  for (const value of [body["retry_after"], nested["retry_after"], headers.get("retry-after")]) {
    const seconds =
      typeof value === "string" && /^\d{1,9}(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
    if (typeof seconds === "number" && seconds >= 0 && Number.isFinite(seconds)) return seconds;
    const date = typeof value === "string" && value.endsWith("GMT") ? Date.parse(value) : Number.NaN;
    if (Number.isFinite(date)) return Math.max(0, (date - now) / 1_000);
  }
  return undefined;
}

function basics(response: RawResponse) {
  const { status, headers, requestId, attempts } = response;
  return { status, headers, requestId, attempts };
}

function describe({ status, headers, text }: RawResponse): string {
  if (status === 0 || (status >= 300 && status < 400)) {
    const target = headers.get("location");
    return `The server redirects the request${target === null ? "" : ` (${target.slice(0, 200)})`}; set baseUrl to the final address.`;
  }
  return text.trim() === "" ? "The server sent no message." : `The server responded: ${snippet(text)}`;
}

function fallbackCode(status: number): string {
  return status === 0 || (status >= 300 && status < 400) ? "unexpected_redirect" : `http_${status}`;
}

function detailsOf(value: unknown): ProblemDetail[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map((entry) => ({
    param: textOf(entry["param"]) ?? "",
    code: textOf(entry["code"]) ?? "",
    message: textOf(entry["message"]) ?? "",
    fix: textOf(entry["fix"]) ?? "",
  }));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function snippet(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, 2_000) : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
