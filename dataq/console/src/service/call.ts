/** An error response, or no response at all (`status` 0). */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  readonly nextAction: string;
  readonly requestId: string;
  readonly retryAfterS: number | undefined;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(textOf(body["detail"]) || textOf(body["message"]) || `HTTP ${status}`);
    this.name = "ServiceError";
    this.status = status;
    // 502 to 504 without a code come from a gateway: the service behind it does not respond.
    const isAway = status === 0 || (status >= 502 && status <= 504);
    this.code = (textOf(body["code"]) || (isAway ? "unreachable" : `http_${status}`)).toLowerCase();
    this.nextAction = textOf(body["next_action"]);
    this.requestId = textOf(body["request_id"]);
    this.retryAfterS = typeof body["retry_after"] === "number" ? body["retry_after"] : undefined;
    this.body = body;
  }
}

export interface CallOptions {
  readonly method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly body?: unknown;
  /** Sent unchanged instead of a JSON body. */
  readonly bytes?: Blob;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Calls the service with the session cookie. Throws a `ServiceError` unless the call succeeds. */
export async function call<Answer>(path: string, options: CallOptions = {}): Promise<Answer> {
  return (await exchange<Answer>(path, options)).answer;
}

/** Like `call`, but also returns headers, status and duration. */
export async function exchange<Answer>(
  path: string,
  options: CallOptions = {},
): Promise<{ answer: Answer; headers: Headers; status: number; tookMs: number }> {
  const began = performance.now();
  const response = await send(path, options);
  const text = await response.text().catch(() => "");
  const body = readBody(text);
  if (!response.ok) throw new ServiceError(response.status, isObject(body) ? body : {});
  const tookMs = performance.now() - began;
  return { answer: body as Answer, headers: response.headers, status: response.status, tookMs };
}

/**
 * Returns the raw response, for streams. The header `x-console` proves that the request was not sent by a
 * form of another site.
 */
export async function send(path: string, options: CallOptions = {}): Promise<Response> {
  const hasBody = options.body !== undefined;
  try {
    return await fetch(path, {
      method: options.method ?? "GET",
      credentials: "same-origin",
      headers: {
        accept: "application/json",
        "x-console": "1",
        // Error messages follow the page's language, not the browser's.
        "accept-language": document.documentElement.lang || "en",
        ...(hasBody && { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(hasBody && { body: JSON.stringify(options.body) }),
      ...(options.bytes && { body: options.bytes }),
      ...(options.signal && { signal: options.signal }),
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ServiceError(0, {});
  }
}

function readBody(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
