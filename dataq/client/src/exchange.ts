/**
 * Sends one request with `fetch` and reads its answer. Imports nothing, because the worker of the synchronous client
 * contains a copy of it.
 */
export async function exchange(fetcher: Fetch, request: HttpRequest, limits: Limits): Promise<Outcome> {
  const controller = new AbortController();
  let ended: "timeout" | "aborted" | "too_large" | undefined;
  const end = (reason: typeof ended): void => {
    ended ??= reason;
    controller.abort();
  };
  const onAbort = (): void => end("aborted");
  if (limits.signal?.aborted) end("aborted");
  limits.signal?.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => end("timeout"), limits.timeoutMs);
  try {
    const init = { ...limits.init, method: request.method, headers: request.headers };
    // Redirects are not followed: they would turn the paid POST into a GET, and might lead to another server.
    const response = await fetcher(request.url, {
      ...init,
      redirect: "manual",
      signal: controller.signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const text = await readText(response, limits.maxBytes, () => end("too_large"));
    return { kind: "reply", status: response.status, headers: [...response.headers], text };
  } catch (error) {
    const { message, cause } = Object(error) as {
      message?: unknown;
      cause?: { code?: unknown; message?: unknown };
    };
    return {
      kind: "failed",
      reason: ended ?? "network",
      message: [message, cause?.message || cause?.code].filter(Boolean).join(": "),
      code: typeof cause?.code === "string" ? cause.code : undefined,
      error,
    };
  } finally {
    clearTimeout(timer);
    limits.signal?.removeEventListener("abort", onAbort);
  }
}

async function readText(response: Response, maxBytes: number, onTooLarge: () => void): Promise<string> {
  if (response.body === null) return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let read = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    read += value.byteLength;
    if (read > maxBytes) {
      onTooLarge();
      throw new Error("the answer is too large");
    }
    text += decoder.decode(value, { stream: true });
  }
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Limits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly init?: object | undefined;
}

export type Outcome =
  | {
      readonly kind: "reply";
      readonly status: number;
      readonly headers: readonly (readonly [string, string])[];
      readonly text: string;
    }
  | {
      readonly kind: "failed";
      readonly reason: "timeout" | "aborted" | "too_large" | "network";
      readonly message: string;
      /** The system's code, such as `ECONNREFUSED`. */
      readonly code: string | undefined;
      readonly error?: unknown;
    };
