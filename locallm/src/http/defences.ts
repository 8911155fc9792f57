import { timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { hostname as machineName, networkInterfaces } from "node:os";
import type { FastifyInstance } from "fastify";
import { isLoopback } from "../wire/address.ts";
import { LocallmError } from "../wire/errors.ts";
import { isOpenAiPath } from "./error-reply.ts";

export interface DefenceSettings {
  /** Bound to this machine only: then a foreign Host header is a browser tricked by DNS. */
  readonly loopbackOnly: boolean;
  /** Lower-case origins; `*` stands for any text. */
  readonly origins: readonly string[];
  readonly apiKey: string | null;
}

/** Who may call: Host, Origin and key, before a body is read and before anything runs. */
export function guard(app: FastifyInstance, settings: DefenceSettings): void {
  const isAllowedOrigin = originRule(settings.origins);
  const isRightKey = keyRule(settings.apiKey);

  app.addHook("onRequest", async (request, reply) => {
    const host = request.headers.host ?? "";
    if (settings.loopbackOnly && !isLocalHost(host))
      throw new LocallmError("host_refused", { host: host.slice(0, 200) });

    const { origin } = request.headers;
    if (origin !== undefined) {
      if (!isAllowedOrigin(origin))
        throw new LocallmError("origin_refused", { origin: origin.slice(0, 200) });
      reply.header("access-control-allow-origin", origin).header("vary", "Origin");
      reply.header("access-control-expose-headers", exposedHeaders);
    }
    if (request.method === "OPTIONS") return;
    // The route too: the router reads an encoded path, and so would pass where the raw one is looked at alone.
    const guarded = isGuarded(request.url) || isGuarded(request.routeOptions.url ?? "");
    if (guarded && !isRightKey(request.headers.authorization)) throw new LocallmError("invalid_api_key", {});
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

/** Everything but the status line, so that a watchdog needs no key. */
function isGuarded(url: string): boolean {
  return url.startsWith("/api/") || isOpenAiPath(url);
}

/**
 * Whether a Host header names this machine. Anything else on a loopback listener is a page of another site
 * whose name was made to point here.
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
  // Not link-local ones: clouds keep their metadata there.
  if (/^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|f[cd])/.test(text)) return true;
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === text));
}

/** Pages that this machine serves, desktop applications and browser extensions may call; other sites must be listed. */
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

const localOrigin =
  /^(https?:\/\/(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(:\d{1,5})?|(app|file|tauri|vscode-webview|vscode-file|chrome-extension|moz-extension|safari-web-extension):\/\/.*)$/;

function keyRule(key: string | null): (authorization: string | undefined) => boolean {
  if (key === null) return () => true;
  const expected = Buffer.from(key);
  return (authorization) => {
    const given = Buffer.from(/^Bearer\s+(\S+)\s*$/i.exec(authorization ?? "")?.[1] ?? "");
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
}
