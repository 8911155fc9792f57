import { lookup as resolveName } from "node:dns";
import { readFileSync } from "node:fs";
import type { ClientRequest, IncomingMessage, Agent as PlainAgent } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { getCACertificates } from "node:tls";
import { bareHostname, isLoopback, isPrivateAddress } from "../wire/address.ts";
import { LocallmError } from "../wire/errors.ts";
import { networkReason } from "./network-reason.ts";

/** An `import` would also load Node's `fetch`, which takes 5 MiB and 20 ms. */
const http = process.getBuiltinModule("node:http");

export interface NetworkSettings {
  /** Proxy URLs, used only for pulls and pushes. Loopback never uses a proxy. */
  proxy?: { http: string | null; https: string | null; except: string | null };
  /** PEM certificates to trust for all requests, in addition to the system's. */
  certificates?: readonly string[];
  connectTimeoutMs?: number;
  /** How long an unused connection stays open. By default Node decides. */
  idleMs?: number;
  /** Hosts with their ports from LOCALLM_REGISTRIES. Insecure requests may reach them at private addresses. */
  namedHosts?: readonly string[];
  /** Resolves names; `isPrivate` classifies addresses. Both are set only by tests. */
  lookup?: LookupFunction;
  isPrivate?: (address: string) => boolean;
}

export interface NetworkRequest {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH";
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | string | AsyncIterable<Uint8Array>;
  signal: AbortSignal;
  /** Allow unencrypted HTTP to any host. Otherwise only loopback may be unencrypted. */
  insecure?: boolean;
  /** A file of PEM certificates to trust in addition to the system's. */
  certificateFile?: string | null;
  /** Whether 3xx answers are followed (the default) or returned. */
  redirects?: "follow" | "return";
  /** The URL came from a public host, so a private address is rejected, as for a redirect. */
  fromPublic?: boolean;
  /** How long to wait for the answer, if the default is too short. */
  silenceMs?: number;
  /** How long to wait for a connection, if that is less than for the answer. */
  connectMs?: number;
  /**
   * Sends the request again if the server closes a kept connection while the request is on its way. Only for requests
   * that may be executed twice.
   */
  repeatable?: boolean;
  /** Decides which addresses the host may have, instead of the rules for downloads. */
  accepts?: (address: string) => boolean;
}

export interface NetworkResponse {
  status: number;
  headers: IncomingMessage["headers"];
  body: IncomingMessage;
  /** The URL after redirects. */
  url: URL;
  /** Whether the first host was public, or a public host supplied the URL. */
  fromPublic: boolean;
}

const maxRedirects = 10;

/**
 * HTTP for all downloads and uploads. Checks every hop after resolving its name: a public host cannot redirect to a
 * private address, credentials stay with their host, and HTTPS is never downgraded to HTTP.
 */
export class Network {
  #settings: NetworkSettings;
  #certificates = new Map<string, string[]>();
  #agents = new Map<string, PlainAgent | SecureAgent>();

  constructor(settings: NetworkSettings = {}) {
    this.#settings = settings;
  }

  /** Returns any status. Throws `source_unreachable`, `insecure_protocol` or `connection_refused`. */
  async request(url: URL, options: NetworkRequest): Promise<NetworkResponse> {
    let current = url;
    let headers = { "user-agent": "locallm", ...options.headers };
    let startedPublic: boolean | null = options.fromPublic ? true : null;
    for (let hop = 0; ; hop++) {
      options.signal.throwIfAborted();
      const mayBePrivate: boolean = startedPublic !== true;
      const answer = await this.#hop(current, { ...options, headers }, mayBePrivate);
      startedPublic ??= answer.isPublic;
      const { status } = answer.response;
      const location = answer.response.headers.location;
      if (
        ![301, 302, 303, 307, 308].includes(status) ||
        location === undefined ||
        options.redirects === "return" ||
        isStream(options.body)
      ) {
        return { ...answer.response, fromPublic: startedPublic };
      }
      answer.response.body.destroy();
      if (hop === maxRedirects) throw refused(current, `more than ${maxRedirects} redirects`);
      const next = parseLocation(location, current);
      if (current.protocol === "https:" && next.protocol === "http:" && !options.insecure) {
        throw refused(next, "the redirect leads from https to http");
      }
      const isLessSafe = current.protocol === "https:" && next.protocol !== "https:";
      if (next.host !== current.host || isLessSafe) headers = withoutCredentials(headers);
      current = next;
    }
  }

  /** Closes idle connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #hop(url: URL, options: NetworkRequest, mayBePrivate: boolean) {
    if (url.protocol !== "https:" && url.protocol !== "http:")
      throw refused(url, `${url.protocol} is not http or https`);
    const hostname = bareHostname(url);
    if (url.protocol === "http:" && !options.insecure && !isLoopback(hostname)) {
      throw new LocallmError("insecure_protocol", {});
    }
    let isPublic = false;
    const check = (address: string) => {
      const isPrivate = (this.#settings.isPrivate ?? isPrivateAddress)(address);
      isPublic ||= !isPrivate;
      if (options.accepts !== undefined) {
        if (!options.accepts(address)) throw refused(url, `it must not resolve to ${address}`);
        return;
      }
      if (isPrivate && !mayBePrivate)
        throw refused(url, "a public host must not resolve or redirect to a private address");
      if (isPrivate && options.insecure && !isLoopback(address) && !this.#isNamed(url))
        throw refused(url, "insecure requests to private addresses need the host in LOCALLM_REGISTRIES");
    };
    if (isIP(hostname)) check(hostname);
    const usesProxy = this.#proxyFor(url, hostname) !== null;
    // The proxy resolves the name, so we can only check the name itself.
    if (usesProxy && !isIP(hostname)) {
      isPublic = true;
      if (isLoopback(hostname)) check("127.0.0.1");
    }
    const send = () => this.#send(url, hostname, options, usesProxy ? null : check);
    // Each attempt removes a closed connection, so the last one opens a new one.
    for (;;) {
      const response = await send().catch((error: unknown) => {
        if (error instanceof LocallmError && error.cause instanceof StaleConnection) return null;
        throw error;
      });
      if (response !== null) return { response, isPublic };
    }
  }

  async #send(
    url: URL,
    hostname: string,
    options: NetworkRequest,
    check: ((address: string) => void) | null,
  ): Promise<Omit<NetworkResponse, "fromPublic">> {
    const isSecure = url.protocol === "https:";
    const certificates = isSecure ? this.#certificatesOf(options.certificateFile ?? null) : null;
    const send = isSecure ? secureRequest : http.request;
    const request = send(url, {
      method: options.method ?? "GET",
      headers: { ...options.headers, ...bodyHeaders(options.body) },
      agent: this.#agentFor(url, hostname),
      signal: options.signal,
      lookup: check === null ? undefined : checkedLookup(this.#settings.lookup ?? systemLookup, check),
      ...(certificates === null ? {} : { ca: certificates }),
    });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    if (check !== null) request.on("socket", (socket) => checkReused(socket, request, check));
    if (options.connectMs !== undefined) limitConnecting(request, options.connectMs);
    const timeoutMs = options.silenceMs ?? this.#settings.connectTimeoutMs ?? 30_000;
    request.setTimeout(timeoutMs, () =>
      request.destroy(new Error(`no answer for ${Math.round(timeoutMs / 1000)} s`)),
    );
    request.on("response", (response) => {
      // Also ends a stalled body. Transfers have their own, shorter limit.
      request.setTimeout(2 * timeoutMs);
      resolve(response);
    });
    const proxy = this.#proxyFor(url, hostname);
    request.on("error", (error: NodeJS.ErrnoException) => {
      const isStale = options.repeatable === true && request.reusedSocket && error.code === "ECONNRESET";
      const cause = isStale ? new StaleConnection("ECONNRESET") : error;
      reject(toNetworkError(cause, url, proxy, options.signal));
    });
    writeBody(request, options.body);
    const body = await promise;
    return { status: body.statusCode ?? 0, headers: body.headers, body, url };
  }

  #isNamed({ host }: URL): boolean {
    return this.#settings.namedHosts?.includes(host.toLowerCase()) ?? false;
  }

  #proxyFor(url: URL, hostname: string): string | null {
    const { proxy } = this.#settings;
    if (proxy === undefined || isLoopback(hostname) || isExcepted(url, hostname, proxy.except)) return null;
    return url.protocol === "https:" ? proxy.https : proxy.http;
  }

  #agentFor(url: URL, hostname: string): PlainAgent | SecureAgent {
    const proxy = this.#proxyFor(url, hostname) === null ? undefined : this.#settings.proxy;
    const key = `${url.protocol}${proxy === undefined ? "" : " by proxy"}`;
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      const Agent = url.protocol === "https:" ? SecureAgent : http.Agent;
      agent = new Agent({
        keepAlive: true,
        ...(this.#settings.idleMs === undefined ? {} : { timeout: this.#settings.idleMs }),
        ...(proxy === undefined
          ? {}
          : {
              proxyEnv: {
                HTTP_PROXY: proxy.http ?? undefined,
                HTTPS_PROXY: proxy.https ?? undefined,
              },
            }),
      });
      this.#agents.set(key, agent);
    }
    return agent;
  }

  /** Null selects Node's own list, including NODE_EXTRA_CA_CERTS. */
  #certificatesOf(file: string | null): string[] | null {
    const { certificates: ours = [] } = this.#settings;
    if (file === null && ours.length === 0) return null;
    const key = file ?? "";
    let certificates = this.#certificates.get(key);
    if (certificates === undefined) {
      certificates = [...getCACertificates("default"), ...ours];
      if (file !== null) certificates.push(readFileSync(file, "utf8"));
      this.#certificates.set(key, certificates);
    }
    return certificates;
  }
}

/** The server closed a kept connection before it answered. */
class StaleConnection extends Error {}

const systemLookup: LookupFunction = (hostname, options, callback) =>
  resolveName(hostname, options, callback);

/** Checks every resolved address before a connection is made. */
function checkedLookup(lookup: LookupFunction, check: (address: string) => void): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, address, addressFamily) => {
      if (error === null) {
        try {
          for (const one of Array.isArray(address) ? address : [{ address }]) check(one.address);
        } catch (refusal) {
          callback(refusal as NodeJS.ErrnoException, address as string, addressFamily);
          return;
        }
      }
      callback(error, address as string, addressFamily);
    });
}

/** A reused connection skips the lookup, so its address is checked before the request is sent. */
function checkReused(socket: Socket, request: ClientRequest, check: (address: string) => void): void {
  if (socket.connecting || socket.remoteAddress === undefined) return;
  try {
    check(socket.remoteAddress);
  } catch (refusal) {
    request.destroy(refusal as Error);
  }
}

function limitConnecting(request: ClientRequest, limitMs: number): void {
  request.on("socket", (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(
      () => request.destroy(new Error(`no connection after ${Math.round(limitMs / 1000)} s`)),
      limitMs,
    );
    const stop = () => clearTimeout(timer);
    socket.once("connect", stop).once("close", stop);
  });
}

/** NO_PROXY: host names, with or without a leading dot, each including its subdomains. */
function isExcepted(url: URL, hostname: string, except: string | null): boolean {
  return (except ?? "").split(",").some((entry) => {
    const [name = "", port] = entry
      .trim()
      .toLowerCase()
      .replace(/^\*?\./, "")
      .split(":");
    if (name === "" || (port !== undefined && port !== url.port)) return false;
    return name === "*" || hostname === name || hostname.endsWith(`.${name}`);
  });
}

function parseLocation(location: string, base: URL): URL {
  try {
    return new URL(location, base);
  } catch {
    throw refused(base, "the redirect's address is not valid");
  }
}

function withoutCredentials(
  headers: Readonly<Record<string, string>>,
): typeof headers & { "user-agent": string } {
  const kept = Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name));
  return Object.fromEntries(kept) as ReturnType<typeof withoutCredentials>;
}

/** A stream can be read only once, so it cannot follow a redirect. */
function isStream(body: NetworkRequest["body"]): boolean {
  return body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
}

function bodyHeaders(body: NetworkRequest["body"]): Record<string, string> {
  if (typeof body === "string" || body instanceof Uint8Array)
    return { "content-length": String(Buffer.byteLength(body)) };
  return {};
}

function writeBody(request: ClientRequest, body: NetworkRequest["body"]): void {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) {
    request.end(body);
    return;
  }
  // A failure destroys the request, whose error event reports it.
  pipeline(Readable.from(body), request).catch((error: unknown) => request.destroy(error as Error));
}

function toNetworkError(error: Error, url: URL, proxy: string | null, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof LocallmError) return error;
  const reason = `${networkReason(error)}${proxy === null ? "" : ` (by the proxy ${proxyHost(proxy)})`}`;
  return new LocallmError("source_unreachable", { host: url.host, reason }, { cause: error });
}

/** Only the host, because a proxy URL may contain a password. */
function proxyHost(proxy: string): string {
  return URL.parse(proxy)?.host ?? "that is set";
}

function refused({ host }: URL, reason: string): LocallmError {
  return new LocallmError("connection_refused", { host, reason });
}
