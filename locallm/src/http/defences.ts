import { isIP } from "node:net";
import { hostname as machineName, networkInterfaces } from "node:os";
import type { FastifyInstance } from "fastify";
import { bareHostname, isLoopback } from "../wire/address.ts";
import { LocallmError } from "../wire/errors.ts";

export interface DefenceSettings {
  /** Whether the server listens on loopback only. If so, a foreign Host header indicates DNS rebinding. */
  readonly loopbackOnly: boolean;
  /** Lower-case origins; `*` matches any text. */
  readonly origins: readonly string[];
  /** This server's name in the `Via` header of requests to engines. */
  readonly viaName: string;
}

/** Checks Host, Origin and Via before the body is read. */
export function guard(app: FastifyInstance, settings: DefenceSettings): void {
  const isAllowedOrigin = originRule(settings.origins);
  /** Almost all requests of a server have the same Host header. */
  let lastLocalHost: string | null = null;

  app.addHook("onRequest", (request, reply, done) => {
    const host = request.headers.host ?? "";
    if (settings.loopbackOnly && host !== lastLocalHost) {
      if (!isLocalHost(host)) throw new LocallmError("host_refused", { host: host.slice(0, 200) });
      lastLocalHost = host;
    }

    // Otherwise each request for a remote model that leads back to this server would cause another one,
    // endlessly.
    if (request.headers.via?.includes(settings.viaName) === true) throw new LocallmError("remote_loop", {});

    const { origin } = request.headers;
    if (origin !== undefined) {
      if (!isAllowedOrigin(origin) && !isOwnPage(origin, host))
        throw new LocallmError("origin_refused", { origin: origin.slice(0, 200) });
      reply.header("access-control-allow-origin", origin).header("vary", "Origin");
      reply.header("access-control-expose-headers", exposedHeaders);
    }
    done();
  });

  app.options("/*", { config: { quiet: true } }, async (request, reply) => {
    if (request.headers.origin !== undefined) {
      const wanted = request.headers["access-control-request-headers"];
      reply.header("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
      reply.header("access-control-allow-headers", wanted ?? "authorization, content-type");
      reply.header("access-control-max-age", "43200");
    }
    return reply.code(204).send();
  });
}

const exposedHeaders = "x-request-id, x-ignored-fields, x-truncated, retry-after";

/**
 * Whether a Host header names this machine. On a loopback listener any other name means that a website made its name
 * resolve to this machine (DNS rebinding).
 */
function isLocalHost(header: string): boolean {
  if (header === "") return true;
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d{1,5})?$/i.exec(header);
  if (match === null) return false;
  const address = match[1] ?? match[2] ?? "";
  if (match[1] !== undefined) return isIP(address) === 6 && isLocalAddress(address);
  if (isIP(address) === 4) return isLocalAddress(address);
  const name = address.toLowerCase().replace(/\.$/, "");
  if (isLoopback(name) || name === machineName().toLowerCase()) return true;
  return localSuffixes.some((suffix) => name.endsWith(suffix));
}

const localSuffixes = [".local", ".internal"];

function isLocalAddress(address: string): boolean {
  const text = address.toLowerCase();
  if (isLoopback(text) || text === "0.0.0.0" || text === "::") return true;
  // Link-local addresses are not allowed: cloud metadata services use them.
  if (/^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|f[cd])/.test(text)) return true;
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === text));
}

/** Allows pages from this machine, desktop applications and browser extensions; other sites must be listed. */
function originRule(listed: readonly string[]): (origin: string) => boolean {
  const patterns = listed.map(
    (entry) =>
      new RegExp(
        `^${entry
          .split("*")
          .map((text) => RegExp.escape(text))
          .join(".*")}$`,
      ),
  );
  return (origin) => {
    if (origin.length > 1024) return false;
    const text = origin.toLowerCase();
    return localOrigin.test(text) || patterns.some((pattern) => pattern.test(text));
  };
}

/**
 * Whether the request comes from a page of this server at a network address, for example `http://192.168.1.5:11434`. A
 * name does not count: a website could make its own name resolve to this machine (DNS rebinding).
 */
function isOwnPage(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  return url !== null && url.host === host.toLowerCase() && isIP(bareHostname(url)) !== 0;
}

const localOrigin =
  /^(https?:\/\/(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(:\d{1,5})?|(app|file|tauri|vscode-webview|vscode-file|chrome-extension|moz-extension|safari-web-extension):\/\/.*)$/;
