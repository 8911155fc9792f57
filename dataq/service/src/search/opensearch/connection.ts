import type { ClientRequest, IncomingMessage, Agent as PlainAgent } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { setTimeout as delay } from "node:timers/promises";

/** An `import` would also load Node's `fetch`, which takes 9 MiB. */
const http = process.getBuiltinModule("node:http");

/** Where OpenSearch is, and how this service signs in. */
export interface OpenSearchAddress {
  /** `https://host:9200`, without credentials. */
  readonly url: string;
  /** The first part of the names of our indices. */
  readonly prefix: string;
  readonly credentials?: { readonly user: string; readonly password: string };
  /** Certificates in PEM that are trusted instead of the system's. */
  readonly certificates?: string;
}

/** OpenSearch answered with an error, or did not answer. `status` is 0 if it did not answer. */
export class OpenSearchError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export interface Asked {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "HEAD";
  readonly path: string;
  /** An object is sent as JSON. A string contains lines of JSON. */
  readonly body?: object | string;
  readonly limitMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Plain HTTP with kept connections, credentials, certificates and time limits. Redirects are not followed. */
export class Connection {
  readonly prefix: string;
  readonly #url: URL;
  readonly #agent: PlainAgent;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pauseMs: PauseMs;

  constructor(
    { url, prefix, credentials, certificates }: OpenSearchAddress,
    pauseMs: PauseMs = usualPauseMs,
  ) {
    this.prefix = prefix;
    this.#pauseMs = pauseMs;
    this.#url = new URL(url);
    const kept = { keepAlive: true, maxSockets: mostSockets };
    this.#agent =
      this.#url.protocol === "https:"
        ? new TlsAgent({ ...kept, ...(certificates !== undefined && { ca: certificates }) })
        : new http.Agent(kept);
    const { user, password } = credentials ?? { user: "", password: "" };
    this.#headers =
      credentials === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
  }

  /** Returns the answer's JSON. Throws `OpenSearchError` if the status is not 2xx or the answer is not JSON. */
  async ask<Answer = unknown>({
    method,
    path,
    body,
    limitMs = usualLimitMs,
    signal,
  }: Asked): Promise<Answer> {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const type = typeof body === "string" ? "application/x-ndjson" : "application/json";
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const send = this.#url.protocol === "https:" ? tlsRequest : http.request;
    const sent: ClientRequest = send(
      new URL(path, this.#url),
      {
        method,
        agent: this.#agent,
        signal,
        headers: {
          ...this.#headers,
          accept: "application/json",
          ...(text !== undefined && { "content-type": type, "content-length": Buffer.byteLength(text) }),
        },
      },
      (answer) => readAnswer<Answer>(answer).then(resolve, reject),
    );
    sent.on("error", (error) =>
      reject(signal?.aborted ? signal.reason : new OpenSearchError(0, messageOf(error))),
    );
    const timer = setTimeout(
      () => sent.destroy(new Error(`OpenSearch did not answer within ${limitMs / 1000} s.`)),
      limitMs,
    );
    sent.end(text);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Repeats the request while OpenSearch is busy or unavailable. Only for requests that may be repeated. */
  async askWithRetries<Answer = unknown>(asked: Asked): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.ask<Answer>(asked);
      } catch (error) {
        if (!(error instanceof OpenSearchError) || !error.isTemporary || tries === mostTries) throw error;
        await this.pause(tries, asked.signal);
      }
    }
  }

  /** Waits before a request is repeated. */
  async pause(tries: number, signal: AbortSignal | undefined): Promise<void> {
    await delay(this.#pauseMs(tries), undefined, signal ? { signal } : {});
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Whether an index of this name exists. */
export async function exists(connection: Connection, index: string): Promise<boolean> {
  try {
    await connection.askWithRetries({ method: "HEAD", path: `/${index}` });
    return true;
  } catch (error) {
    if (error instanceof OpenSearchError && error.status === 404) return false;
    throw error;
  }
}

/** Returns the pause after this many attempts. */
export type PauseMs = (tries: number) => number;

/** The pauses double from 250 ms to 15 s. Together they take a minute and a half. */
function usualPauseMs(tries: number): number {
  return Math.min(15_000, 250 * 2 ** (tries - 1));
}

export const mostTries = 12;
const usualLimitMs = 30_000;
const mostSockets = 32;
const mostMessage = 500;

async function readAnswer<Answer>(answer: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = [];
  try {
    for await (const part of answer) parts.push(part as Buffer);
  } catch (error) {
    throw new OpenSearchError(0, (error as Error).message);
  }
  const status = answer.statusCode ?? 0;
  const text = Buffer.concat(parts).toString();
  if (status >= 200 && status < 300) return readJson<Answer>(text);
  // A blocked index is also answered with 403, and the answer's text gives the reason.
  if (status === 401 || (status === 403 && !text.includes("cluster_block_exception")))
    throw new OpenSearchError(status, "OpenSearch rejected the credentials or lacks a permission for them.");
  throw new OpenSearchError(status, `OpenSearch answered ${status}: ${text.slice(0, mostMessage)}`);
}

/** OpenSSL's message does not mention the address. */
function messageOf({ code, message }: NodeJS.ErrnoException): string {
  return code === "EPROTO" ? "The port in DATAQ_SEARCH does not answer with TLS." : message;
}

/** The answer to HEAD has no body. */
function readJson<Answer>(text: string): Answer {
  try {
    return JSON.parse(text === "" ? "{}" : text);
  } catch {
    throw new OpenSearchError(0, `OpenSearch returned invalid JSON: ${text.slice(0, mostMessage)}`);
  }
}
