import type { IncomingMessage } from "node:http";
import { Network, type NetworkSettings } from "../sources/network.ts";
import { networkReason } from "../sources/network-reason.ts";
import { LocallmError } from "../wire/errors.ts";
import type { RemoteFetch, RemoteRequest } from "./engine.ts";
import { engineWords } from "./failure.ts";

export interface ConnectionSettings extends Pick<NetworkSettings, "certificates" | "lookup"> {
  /** Throws if no model may use the URL's host; otherwise returns which addresses the host may have. */
  readonly addressCheck: (url: string) => Promise<(address: string) => boolean>;
  /** How long an engine may take until the first byte of its answer. */
  readonly firstByteMs?: number;
  /** How long an engine may pause within its answer. */
  readonly silenceMs?: number;
  readonly connectMs?: number;
  /** The most bytes of one answer. */
  readonly maxAnswerBytes?: number;
  /** This server's name in the `Via` header, by which it recognises a request that comes back to it. */
  readonly viaName?: string;
}

const defaults = {
  firstByteMs: 300_000,
  silenceMs: 120_000,
  connectMs: 5_000,
  maxAnswerBytes: 256 * 1024 * 1024,
};

/** Longer timers would fire at once. */
const longestTimerMs = 2 ** 29;

/**
 * Connections to engines, kept open between requests. Each address is checked when it is connected to; proxies are
 * not used, because they would hide it.
 */
export class RemoteConnections {
  readonly #network: Network;
  readonly #settings: ConnectionSettings;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    const { certificates = [], lookup } = settings;
    this.#network = new Network({
      certificates,
      ...(lookup === undefined ? {} : { lookup }),
      // Engines in Python (uvicorn) and llama-server close an unused connection after 5 s.
      idleMs: 4_000,
    });
  }

  readonly fetch: RemoteFetch = async (url, request) => {
    const limits = { ...defaults, ...this.#settings };
    const firstByteMs = Math.min(request.firstByteMs ?? limits.firstByteMs, longestTimerMs);
    const accepts = await this.#settings.addressCheck(url.href);
    const silence = new Silence(firstByteMs);
    const watch: Watch = { ...limits, host: url.host, silence, signal: request.signal };
    try {
      const response = await this.#network.request(url, {
        method: request.method,
        headers: { "accept-encoding": "identity", ...this.#viaHeader(request), ...request.headers },
        ...(request.body === undefined ? {} : { body: request.body }),
        signal: AbortSignal.any([request.signal, silence.signal]),
        redirects: "return",
        insecure: true,
        // An engine that closed the connection has not begun an answer.
        repeatable: true,
        accepts,
        connectMs: Math.min(limits.connectMs, firstByteMs),
        // `Silence` is stricter: it also ends an engine that sends its headers byte by byte.
        silenceMs: firstByteMs + limits.silenceMs,
      });
      const { status, headers, body } = response;
      let isComplete = false;
      const complete = () => {
        isComplete = true;
      };
      const close = () => {
        silence.stop();
        // A connection that is cut while it sends ends with an error that nobody awaits.
        body.on("error", () => {});
        if (isComplete) drain(body);
        else body.destroy();
      };
      const encoding = headers["content-encoding"] ?? "identity";
      if (encoding !== "identity") {
        close();
        const reason = `it compressed its answer (${engineWords(encoding)})`;
        throw new LocallmError("remote_failed", { host: url.host, reason });
      }
      return { status, headers, body: watched(body, watch, close), complete, close };
    } catch (error) {
      silence.stop();
      throw beforeFirstByte(error, watch);
    }
  };

  #viaHeader({ via }: RemoteRequest): Record<string, string> {
    const { viaName } = this.#settings;
    const own = viaName === undefined ? [] : [`1.1 ${viaName}`];
    const names = [...(via === undefined ? [] : [via]), ...own];
    return names.length === 0 ? {} : { via: names.join(", ") };
  }

  /** Closes unused connections. */
  close(): void {
    this.#network.close();
  }
}

interface Watch {
  readonly host: string;
  readonly silence: Silence;
  readonly silenceMs: number;
  readonly maxAnswerBytes: number;
  readonly signal: AbortSignal;
}

/** Aborts if the engine sends nothing. The time in which nobody reads does not count. */
class Silence {
  readonly #controller = new AbortController();
  #limitMs: number;
  #timer: NodeJS.Timeout;
  #isReading = true;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get seconds(): number {
    return Math.round(this.#limitMs / 100) / 10;
  }

  arrived(nextLimitMs: number): void {
    this.#isReading = false;
    if (nextLimitMs === this.#limitMs) {
      this.#timer.refresh();
      return;
    }
    this.stop();
    this.#limitMs = nextLimitMs;
    this.#timer = this.#start();
  }

  reads(): void {
    this.#isReading = true;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#isReading) this.#controller.abort();
      else this.#timer.refresh();
    }, this.#limitMs);
  }
}

/** Passes the bytes on, and ends an answer that pauses too long or grows too large. */
async function* watched(body: IncomingMessage, watch: Watch, close: () => void): AsyncGenerator<Uint8Array> {
  const { host, silence, silenceMs, maxAnswerBytes, signal } = watch;
  let bytes = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxAnswerBytes)
        throw new LocallmError("remote_broke_off", {
          host,
          reason: `it is larger than ${maxAnswerBytes} bytes`,
        });
      silence.arrived(silenceMs);
      yield chunk;
      silence.reads();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof LocallmError) throw error;
    if (bytes === 0) throw beforeFirstByte(error, watch);
    const reason = silence.signal.aborted ? `it sent nothing for ${silence.seconds} s` : reasonOf(error);
    throw new LocallmError("remote_broke_off", { host, reason }, { cause: error });
  } finally {
    close();
  }
}

/** Reads the end mark that follows a complete answer. An engine that goes on sending loses the connection. */
function drain(body: IncomingMessage): void {
  if (body.readableEnded || body.destroyed) return;
  const timer = setTimeout(() => body.destroy(), 1_000);
  let bytes = 0;
  body.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > 65_536) body.destroy();
  });
  body.once("close", () => clearTimeout(timer));
  body.resume();
}

function beforeFirstByte(error: unknown, { host, silence, signal }: Watch): unknown {
  if (signal.aborted) return signal.reason;
  if (silence.signal.aborted)
    return new LocallmError("remote_timeout", { host, seconds: silence.seconds }, { cause: error });
  if (error instanceof LocallmError && error.code !== "source_unreachable") return error;
  return new LocallmError("remote_unreachable", { host, reason: reasonOf(error) }, { cause: error });
}

function reasonOf(error: unknown): string {
  if (error instanceof LocallmError && typeof error.details["reason"] === "string")
    return error.details["reason"];
  return networkReason(error);
}
