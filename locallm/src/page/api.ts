import { choiceOf, choose } from "./choices.ts";
import type { Message } from "./conversation.ts";
import { word } from "./words.ts";

/** An error that the server returned, or status 0 if it cannot be reached. */
export class ServerError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What the user reads about an error. */
export function problemOf(error: unknown): string {
  if (error instanceof ServerError && error.status === 0) return word("unreachable");
  return error instanceof Error ? error.message : String(error);
}

export interface ModelEntry {
  name: string;
  size: number;
  capabilities?: readonly string[];
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
  let isDone = false;
  for await (const line of lines<ChatLine>(await send("/api/chat", body, signal))) {
    isDone = line.done === true;
    yield line;
  }
  if (!isDone) throw new ServerError(0, "the answer ended without its last line");
}

export async function* pull(model: string, signal: AbortSignal): AsyncGenerator<PullLine> {
  yield* lines<PullLine>(await send("/api/pull", { model, stream: true }, signal));
}

export function rememberKey(key: string): void {
  choose("api-key", key.trim());
}

/** Whether a key was entered, which the server may have rejected. */
export function hasKey(): boolean {
  return choiceOf("api-key") !== null;
}

function headersOf(): Record<string, string> {
  const key = choiceOf("api-key");
  // The browser sends no request at all with other characters, such as Chinese ones.
  return key !== null && /^[!-~]+$/.test(key) ? { authorization: `Bearer ${key}` } : {};
}

/** Throws `ServerError`; status 0 if the server cannot be reached. */
async function send(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const request: RequestInit = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(path, { ...request, headers: headersOf(), ...(signal && { signal }) });
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
    const { done, value } = await reader.read().catch((error: unknown) => {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ServerError(0, String(error));
    });
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
