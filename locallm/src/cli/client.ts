import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request as secureRequest } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { z } from "zod";
import { baseUrl, type CommandConfig } from "../config.ts";
import { commandLineKey } from "../keys/command-line-key.ts";
import { bareHostname, isLoopback } from "../wire/address.ts";
import { progressLine, versionAnswer } from "../wire/api/answers.ts";
import type { ProgressLine } from "../wire/api/library.ts";
import { checkBody } from "../wire/body.ts";
import { LocallmError } from "../wire/errors.ts";

/** An `import` would also load Node's `fetch`, which takes 5 MiB and 20 ms. */
const http = process.getBuiltinModule("node:http");

/** An error that the server returned, with the server's message. */
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
  /** A body that is streamed. It has `sizeBytes` bytes. */
  stream?: { source: AsyncIterable<Uint8Array>; sizeBytes: number };
  signal?: AbortSignal;
}

/** The server in `LOCALLM_HOST`. Has no timeout, because a pull may take hours. */
export class Client {
  readonly url: string;
  /** The key that requests carry. */
  readonly apiKey: string | null;

  constructor(config: Pick<CommandConfig, "host" | "apiKey" | "keysFolder">) {
    this.url = baseUrl(config.host);
    // The command line's own key is sent to no other machine.
    const isHere = isLoopback(bareHostname(new URL(this.url)));
    this.apiKey = config.apiKey ?? (isHere ? commandLineKey(config.keysFolder) : null);
  }

  /** Returns the validated answer. Throws `ServerError`, or `server_foreign` if the server is not locallm. */
  async json<Schema extends z.ZodObject>(
    path: string,
    schema: Schema,
    options: CallOptions = {},
  ): Promise<z.output<Schema>> {
    return this.#check(path, schema, await this.#text(path, await this.#call(path, options)));
  }

  /** Like `json`, for a path whose answer has no body. */
  async done(path: string, options: CallOptions): Promise<void> {
    const text = await this.#text(path, await this.#call(path, options));
    if (text.trim() !== "") throw this.#foreign(path, "the answer should be empty");
  }

  /** Throws if no locallm server answers. Call it before long local work. */
  async requireServer(): Promise<void> {
    await this.json("/api/version", versionAnswer);
  }

  /** `exists` is true if the status is below 400. */
  async head(path: string): Promise<{ exists: boolean; headers: IncomingHttpHeaders }> {
    const response = await this.#send(path, { method: "HEAD" });
    response.resume();
    return { exists: (response.statusCode ?? 500) < 400, headers: response.headers };
  }

  /** The progress lines of create, pull or push, up to the success line. */
  progress(path: string, body: unknown): AsyncGenerator<ProgressLine> {
    return this.lines(path, progressLine, ({ status }) => status === "success", { body });
  }

  /**
   * The lines of a streamed answer. Throws error lines as `ServerError`, and `server_foreign` if the stream ends
   * before its last line.
   */
  async *lines<Schema extends z.ZodObject>(
    path: string,
    schema: Schema,
    isLast: (line: z.output<Schema>) => boolean,
    options: CallOptions,
  ): AsyncGenerator<z.output<Schema>> {
    let isWhole = false;
    for await (const text of this.#textLines(path, await this.#call(path, options))) {
      const line = this.#check(path, schema, text);
      isWhole ||= isLast(line);
      yield line;
    }
    if (!isWhole) throw this.#foreign(path, "the answer ends before its last line");
  }

  async *#textLines(path: string, response: IncomingMessage): AsyncGenerator<string> {
    let rest = "";
    for await (const chunk of this.#chunks(response)) {
      const whole = (rest + chunk).split("\n");
      rest = whole.pop() ?? "";
      if (rest.length > longestAnswer) throw this.#foreign(path, "the answer is too long");
      yield* whole;
    }
    if (rest.trim() !== "") yield rest;
  }

  /** Throws `ServerError` for a status of 400 or more, `server_not_running` and `server_unreachable`. */
  async #call(path: string, options: CallOptions): Promise<IncomingMessage> {
    const response = await this.#send(path, options);
    const status = response.statusCode ?? 0;
    if (status < 300) return response;
    const words = status < 400 ? null : errorOf(parsed(await this.#text(path, response)));
    response.destroy();
    if (words === null) throw this.#foreign(path, `status ${status} without an error text`);
    throw new ServerError(status, words);
  }

  #check<Schema extends z.ZodObject>(path: string, schema: Schema, text: string): z.output<Schema> {
    const answer = parsed(text);
    if (answer === undefined) throw this.#foreign(path, "the answer is not JSON");
    const words = errorOf(answer);
    if (words !== null) throw new ServerError(200, words);
    try {
      return checkBody(schema, answer).body;
    } catch (error) {
      throw this.#foreign(path, (error as LocallmError).message);
    }
  }

  #foreign(path: string, reason: string): LocallmError {
    return new LocallmError("server_foreign", { url: this.url, path, reason });
  }

  async #text(path: string, response: IncomingMessage): Promise<string> {
    let text = "";
    for await (const chunk of this.#chunks(response)) {
      text += chunk;
      if (text.length > longestAnswer) throw this.#foreign(path, "the answer is too long");
    }
    return text;
  }

  async *#chunks(response: IncomingMessage): AsyncGenerator<string> {
    try {
      yield* response.setEncoding("utf8") as AsyncIterable<string>;
    } catch (error) {
      throw this.#toOurs(error as Error);
    }
  }

  /** Turns connection errors into `server_not_running` and `server_unreachable`. */
  #toOurs(error: Error): Error {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof LocallmError || error.name === "AbortError" || error.name === "TimeoutError")
      return error;
    if (code === "ECONNREFUSED")
      return new LocallmError("server_not_running", { url: this.url }, { cause: error });
    const reason = message === "aborted" ? "the connection closed during the answer" : (code ?? message);
    return new LocallmError("server_unreachable", { url: this.url, reason }, { cause: error });
  }

  #send(path: string, { method, body, stream, signal }: CallOptions): Promise<IncomingMessage> {
    const url = new URL(this.url + path);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers: Record<string, string | number> = { "user-agent": "locallm" };
    if (this.apiKey !== null) headers["authorization"] = `Bearer ${this.apiKey}`;
    if (text !== undefined) {
      headers["content-type"] = "application/json";
      headers["content-length"] = Buffer.byteLength(text);
    }
    if (stream !== undefined) headers["content-length"] = stream.sizeBytes;
    const send = url.protocol === "https:" ? secureRequest : http.request;
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
    else {
      pipeline(Readable.from(stream.source), request).catch(reject);
      // An answer that arrives before the end of the body is an error, so do not send the rest.
      request.once("response", (response) => response.once("end", () => request.destroy()));
    }
    return promise;
  }
}

/** The maximum length in characters. A model's whole vocabulary takes a few million. */
const longestAnswer = 256 * 1024 * 1024;

/** Returns undefined if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf(answer: unknown): string | null {
  const words = typeof answer === "object" && answer !== null && "error" in answer ? answer.error : null;
  return typeof words === "string" ? words : null;
}
