import { choiceOf, choose } from "./choices.ts";
import type { Message } from "./conversation.ts";
import { spoken, word } from "./words.ts";

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

/** A row of `/api/tags`. */
export interface ModelEntry {
  name: string;
  digest: string;
  size: number;
  remote_host?: string;
  details: {
    family?: string;
    parameter_size?: string;
    quantization_level?: string;
    context_length?: number;
  };
  capabilities?: readonly string[];
}

/** A row of `/api/ps`. */
export interface LoadedModel {
  name: string;
  digest: string;
  size: number;
  device?: string;
  context_length?: number;
  expires_at: string;
}

/** What `/api/show` tells and a list does not. */
export interface ModelText {
  license?: string;
  template?: string;
  system?: string;
  parameters?: string;
}

export interface CatalogueModel {
  name: string;
  pull: readonly string[];
  size: number;
  parameter_size: string;
  context_length: number;
  capabilities: readonly string[];
  license: string;
  use: "general" | "code" | "search";
  needs: number;
  fits: boolean;
}

export interface Catalogue {
  memory: { available: number };
  models: readonly CatalogueModel[];
}

export interface ChatRequest {
  model: string;
  messages: readonly object[];
  options: Readonly<Record<string, number>>;
  tools: readonly unknown[];
  think: boolean | null;
}

/** A line of a streamed answer, or its last line with the counters. */
export interface ChatLine {
  message?: Pick<Message, "content" | "thinking" | "tool_calls">;
  done?: boolean;
  done_reason?: string;
  prompt_eval_count?: number;
  prompt_cached_count?: number;
  eval_count?: number;
  eval_duration?: number;
  draft_n?: number;
  draft_n_accepted?: number;
  truncated?: { messages: number; tokens: number };
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

export async function loadedModels(): Promise<LoadedModel[]> {
  const { models } = (await (await send("/api/ps")).json()) as { models: LoadedModel[] };
  return models;
}

/** The loaded model that answers for this one: a copy under another name has the same digest. */
export function loadedAs(
  loaded: readonly LoadedModel[],
  { name, digest }: Pick<ModelEntry, "name" | "digest">,
): LoadedModel | null {
  return loaded.find((one) => one.name === name || one.digest === digest) ?? null;
}

export async function showModel(model: string): Promise<ModelText> {
  return (await (await send("/api/show", { model })).json()) as ModelText;
}

export async function readCatalogue(): Promise<Catalogue> {
  return (await (await send("/api/catalogue")).json()) as Catalogue;
}

/** Loads the model, or unloads it with `keepAlive` 0. */
export async function load(model: string, keepAlive?: 0): Promise<void> {
  const more = keepAlive === undefined ? {} : { keep_alive: keepAlive };
  await (await send("/api/generate", { model, stream: false, ...more })).text();
}

export async function deleteModel(model: string): Promise<void> {
  await send("/api/delete", { model }, undefined, "DELETE");
}

/** The tokens that the text is for this model. Loads it if necessary. */
export async function countTokens(model: string, content: string): Promise<number> {
  const body = { model, content, add_special: false, parse_special: false };
  return ((await (await send("/api/tokenize", body)).json()) as { count: number }).count;
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
  // Errors come in this language.
  const language = { "x-locallm-language": spoken() };
  // The browser sends no request at all with other characters, such as Chinese ones.
  return key !== null && /^[!-~]+$/.test(key) ? { ...language, authorization: `Bearer ${key}` } : language;
}

/** Throws `ServerError`; status 0 if the server cannot be reached. */
async function send(path: string, body?: unknown, signal?: AbortSignal, method = "POST"): Promise<Response> {
  const request: RequestInit = body === undefined ? {} : { method, body: JSON.stringify(body) };
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
