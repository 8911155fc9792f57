import { bareHostname } from "./address.ts";
import { parseModelName } from "./model-name.ts";

export const remoteProtocols = ["openai", "anthropic", "ollama"] as const;

/** One address of an engine that serves a remote model: a replica. */
export interface RemoteAddress {
  /** Normalised, without a trailing slash: `https://gpu1.example:8000/v1`. */
  readonly url: string;
  /** The engine's name for the model: `Qwen/Qwen3-32B`. */
  readonly model: string;
  readonly protocol: (typeof remoteProtocols)[number];
  /** The name of a key in the credentials file. The key itself is never stored in a model. */
  readonly key: string | null;
  /** This replica's share of the requests, compared with the other replicas. */
  readonly weight: number;
  /** The most requests at once. Null means no limit. */
  readonly requests: number | null;
}

/** The limits of a remote model. */
export const remoteLimits = {
  addresses: 64,
  urlLength: 1024,
  modelLength: 256,
  weight: 1000,
  requests: 100_000,
};

export const remoteKeyName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** Whether the value of FROM is the address of an engine. Otherwise it is a model name or a path. */
export function isRemoteAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && (text.includes("#") || parseModelName(text) === null);
}

/** The reason why an address is invalid, as the end of a sentence about it. */
export interface AddressProblem {
  readonly problem: string;
}

/** Parses `https://host:port/path#model`. */
export function parseRemoteAddress(text: string): { url: string; model: string } | AddressProblem {
  const hash = text.indexOf("#");
  if (hash < 0) return { problem: "must end with # and the engine's name for the model" };
  const model = text.slice(hash + 1);
  const problem = remoteModelProblem(model);
  if (problem !== null)
    return { problem: `needs the engine's name for the model after #; the name ${problem}` };
  const url = parseRemoteUrl(text.slice(0, hash));
  return typeof url === "string" ? { url, model } : url;
}

/** Returns null if the engine's name for a model is valid. */
export function remoteModelProblem(model: string): string | null {
  if (model === "") return "must not be empty";
  if (model.length > remoteLimits.modelLength)
    return `must have at most ${remoteLimits.modelLength} characters`;
  return /[\s\p{C}#]/u.test(model) ? "must not contain spaces, control characters or #" : null;
}

/** Returns the URL in its normal form. */
export function parseRemoteUrl(text: string): string | AddressProblem {
  if (text.length > remoteLimits.urlLength)
    return { problem: `must have at most ${remoteLimits.urlLength} characters` };
  // URL.parse would silently remove or change these characters.
  if (/[\s\p{C}\\]/u.test(text)) return { problem: "must not contain spaces, control characters or \\" };
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\/[^/]/i.test(text)) return { problem: "must be an http or https URL" };
  if (url.username !== "" || url.password !== "" || /^[^/]*\/\/[^/?#]*@/.test(text))
    return {
      problem: "must not contain a username or password; store the key with `locallm remote key` and name it",
    };
  if (text.includes("?")) return { problem: "must not contain a query (?)" };
  if (text.includes("#")) return { problem: "must not contain #" };
  const hostname = bareHostname(url);
  if (hostname === "" || hostname.endsWith(".")) return { problem: "must contain a host name" };
  if (url.port === "0") return { problem: "must have a port between 1 and 65535" };
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  const port = url.port === "" ? "" : `:${url.port}`;
  return `${url.protocol}//${host}${port}${url.pathname.replace(/\/+$/, "")}`;
}

/** The host and port of a URL, also if the port is the scheme's default: `gpu1.example:443`. */
export function hostAndPort(url: string): string {
  const parsed = new URL(url);
  const hostname = bareHostname(parsed);
  const port = parsed.port === "" ? (parsed.protocol === "https:" ? "443" : "80") : parsed.port;
  return namedHostText({ hostname, port });
}

/** A host that models may name. Without a port it stands for all ports. */
export interface NamedHost {
  readonly hostname: string;
  readonly port: string | null;
}

/** Parses `host`, `host:port`, `[::1]` or `[::1]:port`. Null if the text is not a host. */
export function parseNamedHost(text: string): NamedHost | null {
  const [, name = "", port = null] =
    /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (name === "" || name.length > 300 || Number(port ?? 1) > 65_535 || Number(port ?? 1) === 0) return null;
  // Normalises addresses: 0x7f.1 is 127.0.0.1.
  const url = URL.parse(`http://${name}`);
  return url === null
    ? null
    : { hostname: bareHostname(url), port: port === null ? null : String(Number(port)) };
}

/** The text that `parseNamedHost` reads. */
export function namedHostText({ hostname, port }: NamedHost): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}${port === null ? "" : `:${port}`}`;
}

export function isNamedHost(url: string, { hostname, port }: NamedHost): boolean {
  return bareHostname(new URL(url)) === hostname && (port === null || hostAndPort(url).endsWith(`:${port}`));
}

/** `*` stands for all hosts with public addresses. */
export type NamedHosts = readonly (NamedHost | "*")[];

/** Parses comma-separated hosts. Null if an entry is not a host. */
export function parseNamedHosts(text: string): NamedHosts | null {
  const entries = text.split(",").map((each) => each.trim());
  const hosts = entries
    .filter((each) => each !== "")
    .map((each) => (each === "*" ? each : parseNamedHost(each)));
  return hosts.includes(null) ? null : (hosts as NamedHosts);
}
