import type { Message } from "./conversation.ts";

/** An error that the server returned. */
export class ServerError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ModelEntry {
  name: string;
  size: number;
}

export interface ChatRequest {
  model: string;
  messages: readonly Message[];
  options: Readonly<Record<string, number>>;
  tools: readonly unknown[];
  think: boolean | null;
}

/** A line of a streamed answer, or its last line with the counters. */
export interface ChatLine {
  message?: Pick<Message, "content" | "thinking" | "tool_calls">;
  done?: boolean;
  done_reason?: string;
  eval_count?: number;
  eval_duration?: number;
  error?: string;
}

export interface PullLine {
  status?: string;
  total?: number;
  completed?: number;
  error?: string;
}

export async function listModels(): Promise<ModelEntry[]> {
  const { models } = (await (await send("/api/tags")).json()) as { models: ModelEntry[] };
  return models;
}

export async function capabilitiesOf(model: string): Promise<readonly string[]> {
  const shown = (await (await send("/api/show", { model })).json()) as { capabilities?: string[] };
  return shown.capabilities ?? [];
}

export async function* chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatLine> {
  const { think, tools, ...rest } = request;
  const body = {
    ...rest,
    stream: true,
    ...(think === null ? {} : { think }),
    ...(tools.length === 0 ? {} : { tools }),
  };
  yield* lines<ChatLine>(await send("/api/chat", body, signal));
}

export async function* pull(model: string, signal: AbortSignal): AsyncGenerator<PullLine> {
  yield* lines<PullLine>(await send("/api/pull", { model, stream: true }, signal));
}

const keyName = "api-key";

export function rememberKey(key: string): void {
  localStorage.setItem(keyName, key);
}

/** Throws `ServerError`; status 0 if the server cannot be reached. */
async function send(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const key = localStorage.getItem(keyName);
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const request: RequestInit = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(path, { ...request, headers, ...(signal && { signal }) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ServerError(0, String(error));
  }
  if (response.ok) return response;
  const text = await response.text();
  throw new ServerError(response.status, errorIn(text) ?? text.slice(0, 500));
}

function errorIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

/** The JSON lines of a streamed answer. Throws `ServerError` at a line with an error. */
async function* lines<Line extends { error?: string }>(response: Response): AsyncGenerator<Line> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop()!;
    for (const part of parts) {
      if (part.trim() === "") continue;
      const line = JSON.parse(part) as Line;
      if (line.error !== undefined) throw new ServerError(response.status, line.error);
      yield line;
    }
  }
}
