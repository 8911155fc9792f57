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

  /** Throws `ServerError` for any status of 400 or more, and `server_not_running`. */
  async call(path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    const response = await this.#send(path, options);
    const status = response.statusCode ?? 0;
    if (status < 400) return response;
    throw new ServerError(status, errorText(await readText(response), status));
  }

  async json<Answer>(path: string, options: CallOptions = {}): Promise<Answer> {
    const text = await readText(await this.call(path, options));
    return (text === "" ? {} : JSON.parse(text)) as Answer;
  }

  /** Whether the path answers with a status below 400. */
  async exists(path: string): Promise<boolean> {
    const response = await this.#send(path, { method: "HEAD" });
    response.resume();
    return (response.statusCode ?? 500) < 400;
  }

  /** The lines of a streamed answer. A line that is an error is thrown. */
  async *lines<Line extends object>(path: string, options: CallOptions = {}): AsyncGenerator<Line> {
    const response = await this.call(path, { method: "POST", ...options });
    let rest = "";
    for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
      const whole = (rest + chunk).split("\n");
      rest = whole.pop() ?? "";
      for (const line of whole) yield readLine<Line>(line);
    }
    if (rest.trim() !== "") yield readLine<Line>(rest);
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
    request.on("error", (cause) => {
      const { code } = cause as NodeJS.ErrnoException;
      reject(
        code === "ECONNREFUSED"
          ? new LocallmError("server_not_running", { url: this.url }, { cause })
          : cause,
      );
    });
    if (stream === undefined) request.end(text);
    else pipeline(Readable.from(stream.source), request).catch(reject);
    return promise;
  }
}

function readLine<Line extends object>(text: string): Line {
  const line = JSON.parse(text) as Line;
  if ("error" in line) throw new ServerError(200, String(line.error));
  return line;
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) text += chunk;
  return text;
}

function errorText(body: string, status: number): string {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    if (typeof error === "string") return error;
  } catch {}
  return `the server answered ${status}`;
}
