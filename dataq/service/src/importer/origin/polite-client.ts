import type { IncomingMessage, RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bilingual } from "@dataq/contract";
import { isPrivateAddress } from "../../network/private-address.ts";
import { ImportError } from "../import-error.ts";
import { type Message, say } from "../message.ts";
import { assertSafeRedirect, publicLookup } from "./redirect.ts";

/** An `import` would also load Node's `fetch`, which takes 9 MiB. */
const http = process.getBuiltinModule("node:http");

export interface PoliteOptions {
  /** How people know the publisher, in messages. */
  readonly publisher: Bilingual;
  readonly address: string;
  /** The page that a browser would ask from. */
  readonly referer: string;
  /** Least time from the start of a request to the start of the next. */
  readonly paceMs: number;
  readonly signal?: AbortSignal;
  readonly progress?: (message: Message) => void;
}

/** The publisher does not have what was asked. */
export class NotThere extends ImportError {}

/**
 * Asks a publisher one question at a time and never faster than its pace. A publisher that says "too many" is asked at
 * half the speed from then on, after the time that it names; one that does not answer is asked a few times more, then
 * given up with a sentence. Certificates are always checked.
 */
export class PoliteClient {
  readonly #options: PoliteOptions;
  readonly #agents = [new http.Agent({ keepAlive: true }), new HttpsAgent({ keepAlive: true })] as const;
  #paceMs: number;
  #nextAt = 0;
  #asked = 0;

  constructor(options: PoliteOptions) {
    this.#options = options;
    this.#paceMs = options.paceMs;
  }

  /** Requests that were sent, also those that failed. */
  get asked(): number {
    return this.#asked;
  }

  get paceMs(): number {
    return this.#paceMs;
  }

  /** `what` names the answer in errors: page 3 of the list. */
  async json(what: Bilingual, path: string, body?: object): Promise<unknown> {
    return this.#several(what, async () => {
      const url = new URL(path, this.#options.address);
      const { bytes, type } = await this.#once(what, url, mostJsonBytes, body, 0);
      try {
        return JSON.parse(bytes.toString("utf8")) as unknown;
      } catch (error) {
        // Cut off, or a page for people: asking again tells which.
        throw new Passing(
          say("publisher_not_json", { publisher: this.#options.publisher, what, type: type || "no type" }),
          error,
        );
      }
    });
  }

  /** A file at an address that the publisher named, which may be on another host. */
  async file(what: Bilingual, address: string, mostBytes: number): Promise<Buffer> {
    return this.#several(what, async () => {
      const url = new URL(address);
      // Its address is told by a stranger, so it may not lead into the network of this machine.
      const home = new URL(this.#options.address);
      const isLocal = isIP(home.hostname) !== 0 && isPrivateAddress(home.hostname);
      assertSafeRedirect(home, url, isLocal ? home.hostname : somePublicAddress);
      const { bytes } = await this.#once(
        what,
        url,
        mostBytes,
        undefined,
        3,
        isLocal ? undefined : publicLookup,
      );
      return bytes;
    });
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }

  async #several<Answer>(what: Bilingual, ask: () => Promise<Answer>): Promise<Answer> {
    const { publisher, progress, signal, paceMs } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#turn();
        return await ask();
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof Passing)) throw error;
        if (attempt >= mostAttempts)
          throw error.isAnswer
            ? new ImportError(error.said.code, error.said.values, error)
            : new ImportError(
                "publisher_given_up",
                { publisher, what, times: attempt, reason: error.said },
                error,
              );
        const waitMs = error.waitMs ?? paceMs * 2 ** attempt;
        if (waitMs > longestWaitMs)
          throw new ImportError(
            "publisher_asks_to_wait",
            { publisher, minutes: Math.ceil(waitMs / 60_000) },
            error,
          );
        progress?.(
          say("publisher_waits", { publisher, reason: error.said, seconds: Math.ceil(waitMs / 1_000) }),
        );
        await sleep(waitMs, undefined, { signal });
      }
    }
  }

  /** Waits until the next request may start. */
  async #turn(): Promise<void> {
    const now = performance.now();
    const waitMs = this.#nextAt - now;
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: this.#options.signal });
    this.#nextAt = Math.max(now, this.#nextAt) + this.#paceMs;
    this.#asked++;
  }

  async #once(
    what: Bilingual,
    url: URL,
    mostBytes: number,
    body: object | undefined,
    redirects: number,
    lookup?: LookupFunction,
  ): Promise<{ readonly bytes: Buffer; readonly type: string }> {
    const { publisher, referer, signal } = this.#options;
    const home = new URL(this.#options.address);
    if (url.protocol !== "https:" && url.protocol !== home.protocol)
      throw new ImportError("not_https", { protocol: url.protocol });
    const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const response = await this.#send(what, url, sent, {
      method: sent === undefined ? "GET" : "POST",
      headers: {
        "user-agent": "dataq",
        accept: "application/json, */*",
        "accept-encoding": "identity",
        // Others learn nothing of what was asked.
        ...(url.host === home.host && { referer }),
        ...(sent && { "content-type": "application/json", "content-length": sent.length }),
      },
      ...(signal && { signal }),
      ...(lookup && { lookup }),
    });
    const status = response.statusCode ?? 0;
    const from = response.socket.remoteAddress ?? "";
    const { location } = response.headers;
    if (status >= 300 && status < 400 && location !== undefined && redirects > 0) {
      response.resume();
      const next = new URL(location, url);
      assertSafeRedirect(url, next, from);
      const guard = lookup ?? (isPrivateAddress(from) ? undefined : publicLookup);
      return this.#once(what, next, mostBytes, body, redirects - 1, guard);
    }
    if (status !== 200) {
      response.resume();
      if (status === 429) {
        this.#paceMs = Math.min(this.#paceMs * 2, Math.max(slowestPaceMs, this.#options.paceMs));
        throw new Passing(say("publisher_too_many", {}), undefined, { waitMs: waitIn(response) });
      }
      if (status >= 500)
        throw new Passing(say("publisher_answered", { status: String(status) }), undefined, {
          waitMs: waitIn(response),
        });
      const Refusal = status === 404 || status === 410 ? NotThere : ImportError;
      throw new Refusal("publisher_refused", { publisher, what, status: String(status) });
    }
    return {
      bytes: await this.#read(what, response, mostBytes),
      type: response.headers["content-type"] ?? "",
    };
  }

  async #read(what: Bilingual, response: IncomingMessage, mostBytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let length = 0;
    // A server that sends a byte a second would otherwise hold everything up.
    const late = setTimeout(() => response.destroy(new Error("the answer took too long")), longestAnswerMs);
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length > mostBytes) {
          response.destroy();
          throw new ImportError("too_large", { file: what, bytes: mostBytes });
        }
        chunks.push(chunk);
      }
    } catch (error) {
      if (error instanceof ImportError) throw error;
      throw new Passing(say("publisher_cut_off", { reason: (error as Error).message }), error);
    } finally {
      clearTimeout(late);
    }
    return Buffer.concat(chunks, length);
  }

  #send(
    what: Bilingual,
    url: URL,
    sent: Buffer | undefined,
    options: RequestOptions,
  ): Promise<IncomingMessage> {
    const { publisher } = this.#options;
    const isTls = url.protocol === "https:";
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : http.request)(
        url,
        { ...options, agent: this.#agents[isTls ? 1 : 0], timeout: idleMs },
        resolve,
      );
      request.on("timeout", () => request.destroy(new Error(`no answer for ${idleMs / 1_000} s`)));
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (error instanceof ImportError) return reject(error);
        const reason = error.message || (error.code ?? "unknown error");
        reject(
          isOfCertificate(error)
            ? new ImportError("publisher_certificate", { publisher, host: url.host, what, reason }, error)
            : new Passing(say("publisher_unreachable", { reason }), error),
        );
      });
      request.end(sent);
    });
  }
}

/** A failure that may be over at the next attempt. */
class Passing extends Error {
  readonly said: Message;
  readonly waitMs: number | undefined;

  constructor(said: Message, cause?: unknown, { waitMs }: { readonly waitMs?: number | undefined } = {}) {
    super(said.code, { cause });
    this.said = said;
    this.waitMs = waitMs;
  }

  /** Whether the publisher did answer, though not what was asked. */
  get isAnswer(): boolean {
    return this.said.code === "publisher_not_json";
  }
}

/** Retry-After in seconds or as a date. */
function waitIn({ headers }: IncomingMessage): number | undefined {
  const text = headers["retry-after"];
  if (text === undefined) return undefined;
  const seconds = /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds * 1_000) : undefined;
}

function isOfCertificate({ code = "" }: NodeJS.ErrnoException): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|ALTNAME|INVALID_CA/.test(code);
}

/** Of the block that stands for public addresses in documents. */
const somePublicAddress = "192.0.2.1";
const mostAttempts = 5;
const idleMs = 30_000;
const longestAnswerMs = 120_000;
const slowestPaceMs = 30_000;
/** Who asks to wait longer is asked again by the operator. */
const longestWaitMs = 10 * 60_000;
const mostJsonBytes = 8 * 2 ** 20;
