import { queryOptions } from "@tanstack/react-query";
import { call, isObject, ServiceError, send } from "./call.ts";

/**
 * The local model server, reached through the service's proxy, which allows only the requests of this page.
 */
const BASE = "/console/api/models";

export interface Model {
  readonly name: string;
  readonly size: number;
  readonly details?: {
    readonly parameter_size?: string;
    readonly quantization_level?: string;
    readonly family?: string;
  };
}
export interface LoadedModel {
  readonly name: string;
  readonly size: number;
  readonly size_vram?: number;
  readonly expires_at?: string;
  readonly context_length?: number;
}

export const modelsQuery = queryOptions({
  queryKey: ["models", "tags"],
  queryFn: ({ signal }) => call<{ models: readonly Model[] }>(`${BASE}/tags`, { signal }),
});
export const loadedQuery = queryOptions({
  queryKey: ["models", "ps"],
  queryFn: ({ signal }) => call<{ models: readonly LoadedModel[] }>(`${BASE}/ps`, { signal }),
  refetchInterval: 5_000,
});

export interface PullStep {
  readonly status?: string;
  readonly total?: number;
  readonly completed?: number;
}
export const pull = (name: string, signal: AbortSignal) =>
  stream<PullStep>(`${BASE}/pull`, { model: name, stream: true }, signal);

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}
export interface ChatStep {
  readonly message?: { readonly content?: string; readonly thinking?: string };
  readonly done?: boolean;
  readonly eval_count?: number;
  readonly eval_duration?: number;
}
export const chat = (model: string, messages: readonly Message[], signal: AbortSignal) =>
  stream<ChatStep>(`${BASE}/chat`, { model, messages, stream: true }, signal);

/** Yields one object per line. Throws at an `error` line. */
async function* stream<Step>(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<Step> {
  const response = await send(path, {
    method: "POST",
    body,
    signal,
    headers: { accept: "application/x-ndjson" },
  });
  if (!response.ok || !response.body) {
    const failed: unknown = await response.json().catch(() => ({}));
    throw new ServiceError(response.status, isObject(failed) ? detailOf(failed) : {});
  }
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const lines = rest.split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines) if (line.trim() !== "") yield readStep<Step>(line);
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function readStep<Step>(line: string): Step {
  const step: unknown = JSON.parse(line);
  if (isObject(step) && typeof step["error"] === "string")
    throw new ServiceError(502, { detail: step["error"] });
  return step as Step;
}

/**
 * Reads the details of an error. The model server sends `{error: "…"}`; the service sends a problem document.
 */
function detailOf(body: Record<string, unknown>): Record<string, unknown> {
  return typeof body["error"] === "string" ? { detail: body["error"] } : body;
}
