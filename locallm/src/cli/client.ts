import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { baseUrl, type Config } from "../config.ts";
import { LocallmError } from "../wire/errors.ts";

/** What the server answered with: its own words, for people. */
export class ServerError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface CallOptions {
  method?: "GET" | "POST" | "DELETE" | "HEAD";
  body?: unknown;
  /** A body that is sent as it comes; `sizeBytes` long. */
  stream?: { source: AsyncIterable<Uint8Array>; sizeBytes: number };
  signal?: AbortSignal;
}

/** The server that `LOCALLM_HOST` names. No time limits: a pull may take hours. */
export class Client {
  readonly url: string;
  readonly #apiKey: string | null;

  constructor(config: Config) {
    this.url = baseUrl(config.host);
    this.#apiKey = config.apiKey;
  }

  /** Throws `ServerError` for any status of 400 or more, `server_not_running` and `server_unreachable`. */
  async call(path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    const response = await this.#send(path, options);
    const status = response.statusCode ?? 0;
    if (status < 400) return response;
    throw new ServerError(status, errorText(await this.#text(response), status));
  }

  /** Throws `server_foreign` too. */
  async json<Answer>(path: string, options: CallOptions = {}): Promise<Answer> {
    const text = await this.#text(await this.call(path, options));
    return (text === "" ? {} : this.#parse(text)) as Answer;
  }

  /** Whether the path answers with a status below 400. */
  async exists(path: string): Promise<boolean> {
    const response = await this.#send(path, { method: "HEAD" });
    response.resume();
    return (response.statusCode ?? 500) < 400;
  }

  /** The lines of a streamed answer. A line that is an error is thrown; otherwise as `json`. */
  async *lines<Line extends object>(path: string, options: CallOptions = {}): AsyncGenerator<Line> {
    const response = await this.call(path, { method: "POST", ...options });
    let rest = "";
    for await (const chunk of this.#chunks(response)) {
      const whole = (rest + chunk).split("\n");
      rest = whole.pop() ?? "";
      for (const line of whole) yield this.#readLine<Line>(line);
    }
    if (rest.trim() !== "") yield this.#readLine<Line>(rest);
  }

  #readLine<Line extends object>(text: string): Line {
    const line = this.#parse(text) as Line;
    if ("error" in line) throw new ServerError(200, String(line.error));
    return line;
  }

  #parse(text: string): object {
    try {
      const json: unknown = JSON.parse(text);
      if (typeof json === "object" && json !== null) return json;
    } catch {}
    throw new LocallmError("server_foreign", { url: this.url });
  }

  async #text(response: IncomingMessage): Promise<string> {
    let text = "";
    for await (const chunk of this.#chunks(response)) text += chunk;
    return text;
  }

  async *#chunks(response: IncomingMessage): AsyncGenerator<string> {
    try {
      yield* response.setEncoding("utf8") as AsyncIterable<string>;
    } catch (error) {
      throw this.#toOurs(error as Error);
    }
  }

  /** A server that is away, or goes away in the middle of an answer, is no fault of the program's. */
  #toOurs(error: Error): Error {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof LocallmError || error.name === "AbortError" || error.name === "TimeoutError")
      return error;
    if (code === "ECONNREFUSED")
      return new LocallmError("server_not_running", { url: this.url }, { cause: error });
    const reason = message === "aborted" ? "its answer broke off" : (code ?? message);
    return new LocallmError("server_unreachable", { url: this.url, reason }, { cause: error });
  }

  #send(path: string, { method, body, stream, signal }: CallOptions): Promise<IncomingMessage> {
    const url = new URL(this.url + path);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers: Record<string, string | number> = { "user-agent": "locallm" };
    if (this.#apiKey !== null) headers["authorization"] = `Bearer ${this.#apiKey}`;
    if (text !== undefined) {
      headers["content-type"] = "application/json";
      headers["content-length"] = Buffer.byteLength(text);
    }
    if (stream !== undefined) headers["content-length"] = stream.sizeBytes;
    const send = url.protocol === "https:" ? secureRequest : plainRequest;
    const request = send(
      url,
      {
        method: method ?? (text === undefined ? "GET" : "POST"),
        headers,
        ...(signal === undefined ? {} : { signal }),
      },
      resolve,
    );
    request.on("error", (error) => reject(this.#toOurs(error)));
    if (stream === undefined) request.end(text);
    else pipeline(Readable.from(stream.source), request).catch(reject);
    return promise;
  }
}

function errorText(body: string, status: number): string {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    if (typeof error === "string") return error;
  } catch {}
  return `the server answered ${status}`;
}
