import { isIP } from "node:net";
import { Failure } from "@dataq/contract";
import type { FastifyRequest } from "fastify";
import { isLoopback } from "../accounts/address.ts";

interface HostSettings {
  /** The address that the service listens on. */
  readonly host: string;
  /** DATAQ_ALLOWED_HOSTS */
  readonly allowedHosts: readonly string[];
  /** DATAQ_URL */
  readonly publicUrl: string | undefined;
}

/**
 * Returns a check that rejects requests whose Host header is not a name of the service. A page of another site can point its name
 * to this machine (DNS rebinding) and would then have the same origin as the service. A service on loopback
 * always checks the name. A service that other machines can reach checks it only if the operator has
 * configured its names.
 */
export function hostCheck(settings: HostSettings): (request: FastifyRequest) => void {
  const listed = new Set(settings.allowedHosts.map((host) => host.toLowerCase()));
  const listensOnLoopback = settings.host === "localhost" || isLoopback(settings.host);
  if (!listensOnLoopback && listed.size === 0) return () => {};
  if (settings.publicUrl !== undefined) listed.add(new URL(settings.publicUrl).hostname.toLowerCase());
  return ({ headers: { host } }) => {
    // HTTP/1.0 has no Host header; no browser sends that.
    if (host === undefined || isLocalHost(host) || listed.has(nameOf(host) ?? "")) return;
    throw new Failure("host_not_allowed", { host: host.slice(0, 100) });
  };
}

/** Whether a Host header names this machine in a way that works only on this machine. */
export function isLocalHost(host: string | undefined): boolean {
  if (host === undefined) return true;
  const name = nameOf(host);
  if (name === undefined) return false;
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  const address = name.replace(/^\[|\]$/g, "");
  return isIP(address) !== 0 && isLoopback(address);
}

/** The host name in lower case, without the port and a final dot. An IPv6 address is in brackets. */
function nameOf(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase().replace(/\.$/, "");
}
