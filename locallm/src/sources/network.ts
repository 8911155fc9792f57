import { lookup as resolveName } from "node:dns";
import { readFileSync } from "node:fs";
import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { getCACertificates } from "node:tls";
import { isLoopback, isPrivateAddress } from "../wire/address.ts";
import { LocallmError } from "../wire/errors.ts";

export interface NetworkSettings {
  /** Proxy addresses, for pulls alone. Loopback is never asked through a proxy. */
  proxy?: { http: string | null; https: string | null; except: string | null };
  /** PEM certificates to trust besides the system's, for everything that is fetched. */
  certificates?: readonly string[];
  connectTimeoutMs?: number;
  /** Hosts, with their ports, that a setting names: they may be private for insecure requests too. */
  namedHosts?: readonly string[];
  /** How names become addresses, and which addresses are private; for tests. */
  lookup?: LookupFunction;
  isPrivate?: (address: string) => boolean;
}

export interface NetworkRequest {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH";
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | string | AsyncIterable<Uint8Array>;
  signal: AbortSignal;
  /** Plain http to any host; otherwise only loopback may be asked without encryption. */
  insecure?: boolean;
  /** A file of PEM certificates to trust besides the system's. */
  certificateFile?: string | null;
  /** Whether 3xx answers are followed (the default) or handed back. */
  redirects?: "follow" | "return";
  /** A public host told this address: it is refused as a redirect would be where it is private. */
  fromPublic?: boolean;
  /** How long to wait without a byte, where the usual time is too short for what is asked. */
  silenceMs?: number;
}

export interface NetworkResponse {
  status: number;
  headers: IncomingMessage["headers"];
  body: IncomingMessage;
  /** Where the answer came from, after redirects. */
  url: URL;
  /** Whether the first host asked was a public one, or such a one had sent us there. */
  fromPublic: boolean;
}

const maxRedirects = 10;

/**
 * HTTP for everything that is fetched from outside. Checks every hop after its name was resolved: a public host
 * cannot send us to a private address, credentials stay with the host they are for, and https never becomes http.
 */
export class Network {
  #settings: NetworkSettings;
  #certificates = new Map<string, string[]>();
  #agents = new Map<string, PlainAgent | SecureAgent>();

  constructor(settings: NetworkSettings = {}) {
    this.#settings = settings;
  }

  /** Throws `source_unreachable`, `insecure_protocol` or `connection_refused`; any status is returned. */
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

  /** Ends idle connections. */
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
      if (isPrivate && !mayBePrivate) throw refused(url, "a public host may not lead to a private address");
      if (isPrivate && options.insecure && !isLoopback(address) && !this.#isNamed(url))
        throw refused(url, "insecure requests to private addresses need the host in LOCALLM_REGISTRIES");
    };
    if (isIP(hostname)) check(hostname);
    const usesProxy = this.#proxyFor(url, hostname) !== null;
    // Behind a proxy it is the proxy that resolves names; what the name itself says is all we can check.
    if (usesProxy && !isIP(hostname)) {
      isPublic = true;
      if (isLoopback(hostname)) check("127.0.0.1");
    }
    const response = await this.#send(url, hostname, options, usesProxy ? null : check);
    return { response, isPublic };
  }

  async #send(
    url: URL,
    hostname: string,
    options: NetworkRequest,
    check: ((address: string) => void) | null,
  ): Promise<Omit<NetworkResponse, "fromPublic">> {
    const isSecure = url.protocol === "https:";
    const certificates = isSecure ? this.#certificatesOf(options.certificateFile ?? null) : null;
    const send = isSecure ? secureRequest : plainRequest;
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
    const timeoutMs = options.silenceMs ?? this.#settings.connectTimeoutMs ?? 30_000;
    request.setTimeout(timeoutMs, () =>
      request.destroy(new Error(`no answer for ${Math.round(timeoutMs / 1000)} s`)),
    );
    request.on("response", (response) => {
      // A body that stops coming is given up too; transfers have a shorter patience of their own.
      request.setTimeout(2 * timeoutMs);
      resolve(response);
    });
    const proxy = this.#proxyFor(url, hostname);
    request.on("error", (error) => reject(toNetworkError(error, url, proxy, options.signal)));
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
      const Agent = url.protocol === "https:" ? SecureAgent : PlainAgent;
      agent = new Agent({
        keepAlive: true,
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

  /** Null: Node's own list, to which NODE_EXTRA_CA_CERTS adds. */
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

const systemLookup: LookupFunction = (hostname, options, callback) =>
  resolveName(hostname, options, callback);

/** Looks at every address before a connection is made to it. */
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

/** A connection that stands already is not looked up again: its address is checked before a byte goes out. */
function checkReused(socket: Socket, request: ClientRequest, check: (address: string) => void): void {
  if (socket.connecting || socket.remoteAddress === undefined) return;
  try {
    check(socket.remoteAddress);
  } catch (refusal) {
    request.destroy(refusal as Error);
  }
}

/** NO_PROXY: host names, with or without a leading dot, that stand for themselves and what is below them. */
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

/** Without brackets and a dot at its end. */
export function bareHostname(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
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

/** A body that comes once cannot be sent to a second place. */
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
  // A failure ends the request, whose own error event tells it.
  pipeline(Readable.from(body), request).catch((error: unknown) => request.destroy(error as Error));
}

function toNetworkError(error: Error, url: URL, proxy: string | null, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof LocallmError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const reason = `${code ?? error.message}${proxy === null ? "" : ` (by the proxy ${proxyHost(proxy)})`}`;
  return new LocallmError("source_unreachable", { host: url.host, reason }, { cause: error });
}

/** A proxy's address may hold a password. */
function proxyHost(proxy: string): string {
  return URL.parse(proxy)?.host ?? "that is set";
}

function refused({ host }: URL, reason: string): LocallmError {
  return new LocallmError("connection_refused", { host, reason });
}
