import { type ChildProcess, spawn } from "node:child_process";
import { request } from "node:http";
import { processTree } from "./processes.ts";

export interface Completion {
  readonly prompt: string;
  readonly tokens: number;
  /** Null uses random sampling, as most clients do. */
  readonly seed: number | null;
  /** Supported only by locallm: a repeated request gives a bit-identical answer. */
  readonly deterministic?: boolean;
}

export interface Timing {
  /** Milliseconds from the request to the first text. `lastMs` ends at the last text. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** The longest wait between two texts. */
  readonly largestGapMs: number;
  /** The time of one token as reported by the server. */
  readonly tokenMs: number;
  /** The prompt's tokens as reported by the server. */
  readonly promptTokens: number;
  /** Prompt tokens that were not cached. */
  readonly computedTokens: number;
  readonly tokens: number;
}

/** The times in llama-server's last event. */
interface Timings {
  readonly prompt_n: number;
  readonly predicted_n: number;
  readonly predicted_ms: number;
}

/** A server to measure. It speaks Ollama's API, as locallm does, or llama-server's own API. */
export class Peer {
  readonly name: string;
  readonly url: URL;
  readonly command: readonly string[] | null;
  api: "ollama" | "llama-server" = "ollama";
  model = "";
  /** Additional options for Ollama's API, such as num_thread. */
  options: Readonly<Record<string, unknown>> = {};
  #child: ChildProcess | null = null;

  /** `source` is a base URL, or the command line that starts a server, with {port} in place of the port. */
  constructor(name: string, source: string, port: number) {
    this.name = name;
    const isUrl = /^https?:/.test(source);
    this.url = new URL(isUrl ? source : `http://127.0.0.1:${port}`);
    this.command = isUrl ? null : source.replaceAll("{port}", String(port)).split(/\s+/);
  }

  get port(): number {
    return Number(this.url.port);
  }

  tree(): number[] {
    return processTree(this.port);
  }

  /** Starts the server if `source` is a command line, and waits until the server answers. */
  async start(): Promise<void> {
    if (this.command !== null) {
      const [program, ...parameters] = this.command;
      this.#child = spawn(program!, parameters, { stdio: "ignore" });
    }
    while (!(await this.#isReady())) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await gone;
  }

  /** Stops the server without waiting, for when the benchmark itself exits early. */
  kill(): void {
    this.#child?.kill("SIGTERM");
  }

  /** Detects which API the server speaks. `model` selects a model if the server has several. */
  async detect(model: string | undefined): Promise<void> {
    const tags = await this.#call("GET", "/api/tags").catch(() => null);
    const models = (tags as { models?: { model: string; digest?: string }[] } | null)?.models ?? [];
    // llama-server also implements Ollama's list of models, but not the rest of its API, so the list proves
    // nothing.
    const version = await this.#call("GET", "/api/version").catch(() => null);
    this.api = (version as { version?: string } | null)?.version === undefined ? "llama-server" : "ollama";
    this.model = model ?? models[0]?.model ?? "";
  }

  /** Streams an answer and measures its times in this process. */
  async complete(completion: Completion): Promise<Timing> {
    const { prompt, seed, deterministic } = completion;
    const sampling = {
      ...(seed === null ? { temperature: 0.8 } : { temperature: 0, seed }),
      ...(deterministic === undefined ? {} : { deterministic }),
    };
    const begin = performance.now();
    let firstMs = 0;
    let lastMs = 0;
    let largestGapMs = 0;
    let last: Record<string, unknown> = {};
    const body =
      this.api === "ollama"
        ? {
            model: this.model,
            prompt,
            raw: true,
            options: { ...sampling, num_predict: completion.tokens, num_ctx: 2048, ...this.options },
          }
        : { prompt, n_predict: completion.tokens, stream: true, cache_prompt: true, ...sampling };
    await this.#stream(this.api === "ollama" ? "/api/generate" : "/completion", body, (chunk) => {
      last = chunk;
      if ((chunk["response"] ?? chunk["content"]) === "") return;
      const nowMs = performance.now() - begin;
      if (firstMs === 0) firstMs = nowMs;
      else largestGapMs = Math.max(largestGapMs, nowMs - lastMs);
      lastMs = nowMs;
    });
    const timings = last["timings"] as Timings | undefined;
    const promptTokens = Number(
      last["prompt_eval_count"] ?? last["tokens_evaluated"] ?? timings?.prompt_n ?? 0,
    );
    const tokens = Number(last["eval_count"] ?? timings?.predicted_n ?? 0);
    return {
      firstMs,
      lastMs,
      largestGapMs,
      tokenMs: Number(timings?.predicted_ms ?? Number(last["eval_duration"] ?? 0) / 1e6) / tokens,
      promptTokens,
      computedTokens: timings?.prompt_n ?? promptTokens - Number(last["prompt_cached_count"] ?? 0),
      tokens,
    };
  }

  /** Answers a chat. Returns the time to the first text, and the answer. */
  async chat(messages: readonly object[], tokens: number): Promise<{ firstMs: number; text: string }> {
    const begin = performance.now();
    let firstMs = 0;
    let text = "";
    const sampling = { temperature: 0, seed: 1 };
    const [path, body] =
      this.api === "ollama"
        ? ["/api/chat", { options: { ...sampling, num_predict: tokens, num_ctx: 2048, ...this.options } }]
        : ["/v1/chat/completions", { ...sampling, max_tokens: tokens, stream: true }];
    await this.#stream(path as string, { model: this.model, messages, ...(body as object) }, (chunk) => {
      const [choice] = (chunk["choices"] ?? []) as { delta: { content?: string | null } }[];
      const message = (chunk["message"] ?? choice?.delta) as { content?: string | null } | undefined;
      const content = message?.content ?? "";
      if (content === "") return;
      if (firstMs === 0) firstMs = performance.now() - begin;
      text += content;
    });
    return { firstMs, text };
  }

  async embed(texts: readonly string[]): Promise<void> {
    const [path, body] =
      this.api === "ollama"
        ? ["/api/embed", { model: this.model, input: texts }]
        : ["/v1/embeddings", { input: texts }];
    await this.#call("POST", path as string, body);
  }

  /** Unloads the model. A llama-server cannot do that, so its process is stopped. */
  async unload(): Promise<void> {
    if (this.api === "llama-server") return this.stop();
    await this.#call("POST", "/api/generate", { model: this.model, keep_alive: 0 });
    while (((await this.#call("GET", "/api/ps")) as { models: unknown[] }).models.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      // A llama-server without its page has nothing at "/".
      await this.#call("GET", "/health").catch(() => this.#call("GET", "/"));
      return true;
    } catch {
      return false;
    }
  }

  async #call(method: string, path: string, body?: unknown): Promise<unknown> {
    let text = "";
    await this.#send(method, path, body, (part) => {
      text += part;
    });
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  /** Reads the lines of NDJSON or of server-sent events. */
  async #stream(
    path: string,
    body: unknown,
    onChunk: (chunk: Record<string, unknown>) => void,
  ): Promise<void> {
    let rest = "";
    await this.#send("POST", path, body, (part) => {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const json = line.startsWith("data: ") ? line.slice(6) : line;
        if (json.startsWith("{")) onChunk(JSON.parse(json) as Record<string, unknown>);
      }
    });
  }

  /** Opens a new connection for each request, because llama-server closes idle connections. */
  #send(method: string, path: string, body: unknown, onPart: (part: string) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.url), { method, agent: false }, (response) => {
        response.setEncoding("utf8");
        response.on("data", onPart);
        response.on("error", reject);
        response.on("end", () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`${this.name}: ${method} ${path} answered ${response.statusCode}`));
        });
      });
      sent.on("error", reject);
      if (body !== undefined) sent.setHeader("content-type", "application/json");
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
