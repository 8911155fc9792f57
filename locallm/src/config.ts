import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { AcceleratorSettings } from "./gpu/accelerator.ts";
import type { GpuSettings } from "./gpu/machine.ts";
import { parseDuration, parseKeepAlive } from "./wire/duration.ts";
import { LocallmError } from "./wire/errors.ts";
import { type DraftSetting, mostSlots } from "./wire/inference/load.ts";
import { type NamedHosts, parseNamedHosts } from "./wire/remote-address.ts";

/** Settings that every command needs. Only this file reads the environment. */
export interface CommandConfig {
  readonly releases: ReleaseSettings;
  readonly host: HostAddress;
  readonly modelsFolder: string;
  readonly apiKey: string | null;
  /** The folder with API keys and their usage. It may be absent. */
  readonly keysFolder: string;
  /** Credentials for registries. The file may be absent. */
  readonly credentialsFile: string;
  /** The hosts that remote models may name on the owner's command line. The file may be absent. */
  readonly remoteHostsFile: string;
  /** The hosts of engines that are drained. The file may be absent. */
  readonly drainedHostsFile: string;
  /** Settings files that `launch` writes for programs. It may be absent. */
  readonly launchFolder: string;
}

/** Where newer versions of this program are. */
export interface ReleaseSettings {
  /** An address or a folder. Null: none is built in until a release is published. */
  readonly from: string | null;
  /** The public key of minisign that signs them. */
  readonly key: string | null;
  /** Whether the server looks for a newer version, once a day. It never installs one. */
  readonly isChecked: boolean;
}

/** All settings of the server. */
export interface Config extends CommandConfig, GpuSettings, AcceleratorSettings {
  /** Requests that one loaded model answers in parallel. */
  readonly numParallel: number;
  readonly maxLoadedModels: number;
  readonly maxQueue: number;
  /** `Infinity` means forever. */
  readonly keepAliveMs: number;
  /** Longest time a load may make no progress; `Infinity`: no limit. */
  readonly loadTimeoutMs: number;
  /** How long a server that stops lets requests go on. Null: as long as it suits how it was started. */
  readonly stopTimeoutMs: number | null;
  /** Longest time until the first byte of an engine's answer; `Infinity`: no limit. */
  readonly remoteTimeoutMs: number;
  /** Whether faster files of models are made. */
  readonly derived: boolean;
  readonly debug: boolean;
  readonly origins: readonly string[];
  /**
   * The default `num_ctx` if neither the request nor the model sets it. With `auto`, the window grows with
   * the prompts.
   */
  readonly contextLength: number | "auto";
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvCacheType: "f16" | "q8_0" | "q4_0";
  readonly sharedCache: "auto" | "on" | "off";
  readonly drafts: DraftSetting;
  /**
   * The memory in bytes for conversations whose slot was given to another one. Null means a share of the free
   * memory.
   */
  readonly cacheRamBytes: number | null;
  /** The disk space in bytes for these conversations. 0 means that they are not written to disk. */
  readonly cacheDiskBytes: number;
  readonly cacheFolder: string;
  /** The memory in bytes for finished responses that requests can continue. 0 keeps none. */
  readonly responsesBytes: number;
  readonly responsesLifetimeMs: number;
  /** The folder to which responses are also written. Null keeps them only in memory. */
  readonly responsesFolder: string | null;
  /** Whether `/api/generate` uses a plain prompt as is or applies the model's template. */
  readonly generate: "auto" | "raw" | "template";
  /** The version of Ollama that `/api/version` tells. */
  readonly ollamaVersion: string;
  /** Whether control tokens are recognised only in the template or also in messages. */
  readonly specialTokens: "template" | "everywhere";
  /** The hosts that models may be pulled from. Null allows any. */
  readonly registries: readonly string[] | null;
  /** The hosts that any remote model may name, in addition to those in `remoteHostsFile`. */
  readonly remotes: NamedHosts;
  /** The hosts from which pictures are fetched that requests name by their address. */
  readonly imageHosts: NamedHosts;
  /** Additional certificates to trust, for pulls and pushes only. */
  readonly caFile: string | null;
  readonly proxy: {
    readonly http: string | null;
    readonly https: string | null;
    readonly except: string | null;
  };
}

/** Address on which the server listens and which clients call. */
export interface HostAddress {
  readonly scheme: "http" | "https";
  /** Null means all interfaces. IPv6 addresses have no brackets. */
  readonly hostname: string | null;
  readonly port: number;
  /** Path prefix of a server behind a proxy, without a trailing slash. */
  readonly path: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

interface Setting {
  readonly variable: string;
  readonly byDefault: string;
  readonly meaning: string;
}

/** Printed by `locallm serve --help`. */
export const settings: readonly Setting[] = [
  setting("LOCALLM_HOST", "127.0.0.1:11434", "address to listen on; 0.0.0.0 accepts other machines"),
  setting("LOCALLM_MODELS", "~/.locallm/models", "where models are stored"),
  setting("LOCALLM_KEEP_ALIVE", "5m", "how long an idle model stays loaded; -1 keeps it forever"),
  setting("LOCALLM_NUM_PARALLEL", "1", "requests that one model answers in parallel"),
  setting("LOCALLM_MAX_LOADED_MODELS", "1", "maximum number of loaded models"),
  setting("LOCALLM_MAX_QUEUE", "512", "maximum number of waiting requests; further ones get 503"),
  setting("LOCALLM_LOAD_TIMEOUT", "5m", "abort a load after this long without progress; 0 sets no limit"),
  setting(
    "LOCALLM_STOP_TIMEOUT",
    "",
    "how long a server that stops lets requests go on; empty: 90s where systemd keeps its socket, else 8s",
  ),
  setting(
    "LOCALLM_CONTEXT_LENGTH",
    "2048",
    "num_ctx if neither the request nor the model sets it; auto: it grows with the prompts",
  ),
  setting("LOCALLM_ORIGINS", "", "additional browser origins to allow, comma-separated; * matches any text"),
  setting("LOCALLM_API_KEY", "", "if set, /api and /v1 require it as a bearer token"),
  setting(
    "LOCALLM_KEYS",
    "~/.locallm/keys",
    "folder of the API keys that locallm keys manages, and of their usage",
  ),
  setting(
    "LOCALLM_GENERATE",
    "auto",
    "what /api/generate does with a plain prompt: raw, template, or auto: template for Ollama's own command line only",
  ),
  setting("LOCALLM_OLLAMA_VERSION", "0.33.0", "the version of Ollama that /api/version tells its clients"),
  setting(
    "LOCALLM_SPECIAL_TOKENS",
    "template",
    "where control tokens are recognised: template, or everywhere to include messages",
  ),
  setting("LOCALLM_FLASH_ATTENTION", "auto", "auto, on or off"),
  setting(
    "LOCALLM_SHARED_CACHE",
    "auto",
    "whether parallel requests share one cache: on, off, or auto: where a window for each does not fit",
  ),
  setting(
    "LOCALLM_DRAFTS",
    "auto",
    "whether what repeats in a text is guessed ahead: on, off, or auto: on a GPU",
  ),
  setting("LOCALLM_KV_CACHE_TYPE", "f16", "f16, q8_0 or q4_0"),
  setting(
    "LOCALLM_CACHE_RAM",
    "auto",
    "memory for conversations that lost their slot, such as 2GiB; 0 keeps none; auto: an eighth of the free memory, up to 8GiB",
  ),
  setting(
    "LOCALLM_CACHE_DISK",
    "0",
    "disk space for these conversations, so that they survive a restart; 0 writes none",
  ),
  setting("LOCALLM_CACHE_FOLDER", "~/.locallm/conversations", "folder for these conversations on disk"),
  setting("LOCALLM_RESPONSES", "64MiB", "memory for what /v1/responses stores; 0 stores nothing"),
  setting("LOCALLM_RESPONSES_LIFETIME", "24h", "how long a response is stored; 0 sets no limit"),
  setting(
    "LOCALLM_RESPONSES_FOLDER",
    "",
    "folder to which responses are also written, so that they survive a restart",
  ),
  setting(
    "LOCALLM_REGISTRIES",
    "",
    "hosts that models may be pulled from, comma-separated; empty allows any",
  ),
  setting(
    "LOCALLM_REMOTES",
    "",
    "hosts that remote models may use, comma-separated, such as gpu1.example:8000; * allows all public hosts; empty: only hosts allowed on the command line",
  ),
  setting(
    "LOCALLM_IMAGE_HOSTS",
    "",
    "hosts from which images are fetched that requests name by their URL, comma-separated; * allows all public hosts; empty: none",
  ),
  setting(
    "LOCALLM_REMOTE_TIMEOUT",
    "5m",
    "how long to wait for the first byte of an engine's answer; 0 sets no limit",
  ),
  setting(
    "LOCALLM_CREDENTIALS",
    "~/.locallm/credentials.json",
    "file with credentials for registries and keys of remote models; only its owner may have access",
  ),
  setting(
    "LOCALLM_CA_FILE",
    "",
    "file with additional PEM certificates to trust, for pulls, pushes and updates",
  ),
  setting("LOCALLM_RELEASES", "", "address or folder of releases, for locallm update; none is built in yet"),
  setting("LOCALLM_RELEASE_KEY", "", "public key of minisign that signs the releases"),
  setting("LOCALLM_UPDATE_CHECK", "off", "on: the server looks for a newer release once a day, and says so"),
  setting(
    "LOCALLM_DERIVED",
    "on",
    "off makes no faster files of embedding models in F16, on processors that multiply BF16 faster",
  ),
  setting("LOCALLM_DEBUG", "false", "true logs every decision"),
  setting("LOCALLM_INTEL_GPU", "", "1 uses an Intel GPU with Vulkan, on Linux"),
  setting("LOCALLM_GPU_MARGIN", "1GiB", "memory of each GPU that models leave free"),
  setting(
    "LOCALLM_N_CPU_MOE",
    "",
    "the experts of so many first layers stay on the CPU; empty: as few as fit",
  ),
  setting(
    "LOCALLM_TENSOR_SPLIT",
    "",
    "how models are divided among GPUs, such as 3,1; empty: by their free memory",
  ),
  setting("CUDA_VISIBLE_DEVICES", "", "NVIDIA GPUs to use; -1 or empty: none"),
  setting("GGML_VK_VISIBLE_DEVICES", "", "GPUs to use with Vulkan; -1 or empty: none"),
  setting(
    "LOCALLM_ENGINES",
    "~/.locallm/engines",
    "folder of the GPU builds that doctor --install downloads",
  ),
  setting("HTTPS_PROXY", "", "proxy for pulls and pushes; HTTP_PROXY and NO_PROXY likewise"),
];

/** Reads and checks all settings. Throws `invalid_setting`, which names the variable, for an invalid value. */
export function readConfig(environment: Environment = process.env): Config {
  const read = reader(environment);
  const readProxy = (name: string): string | null => {
    const variable = [name, name.toLowerCase()].find((each) => trimmed(environment[each]) !== undefined);
    if (variable === undefined) return null;
    return checked(variable, trimmed(environment[variable]) ?? "", parseProxy);
  };
  const flashAttention = read("LOCALLM_FLASH_ATTENTION", parseFlashAttention);
  const cacheRamBytes = read("LOCALLM_CACHE_RAM", parseCacheRam);

  return {
    ...readCommandConfig(environment),
    ...readGpuSettings(environment),
    numParallel: read("LOCALLM_NUM_PARALLEL", integerBetween(1, mostSlots)),
    maxLoadedModels: read("LOCALLM_MAX_LOADED_MODELS", integerBetween(1, 1000)),
    maxQueue: read("LOCALLM_MAX_QUEUE", integerBetween(1, 1_000_000)),
    keepAliveMs: read("LOCALLM_KEEP_ALIVE", parseKeepAliveSetting),
    loadTimeoutMs: read("LOCALLM_LOAD_TIMEOUT", parseTimeout),
    stopTimeoutMs: read("LOCALLM_STOP_TIMEOUT", parseStopTimeout),
    derived: read("LOCALLM_DERIVED", parseBoolean),
    debug: read("LOCALLM_DEBUG", parseBoolean),
    origins: read("LOCALLM_ORIGINS", parseOrigins),
    contextLength: read("LOCALLM_CONTEXT_LENGTH", parseContextLength),
    flashAttention,
    marginBytes: read("LOCALLM_GPU_MARGIN", parseMargin),
    cpuExperts: read("LOCALLM_N_CPU_MOE", (text) =>
      text === "" ? null : integerBetween(0, 1_000_000)(text),
    ),
    tensorSplit: read("LOCALLM_TENSOR_SPLIT", parseShares),
    kvCacheType: read("LOCALLM_KV_CACHE_TYPE", (text) => parseKvCacheType(text, flashAttention)),
    sharedCache: read("LOCALLM_SHARED_CACHE", oneOf("auto", "on", "off")),
    drafts: read("LOCALLM_DRAFTS", oneOf("auto", "on", "off")),
    cacheRamBytes,
    cacheDiskBytes: read("LOCALLM_CACHE_DISK", (text) => parseCacheDisk(text, cacheRamBytes)),
    cacheFolder: read("LOCALLM_CACHE_FOLDER", parsePath),
    responsesBytes: read("LOCALLM_RESPONSES", parseResponses),
    responsesLifetimeMs: read("LOCALLM_RESPONSES_LIFETIME", parseTimeout),
    responsesFolder: read("LOCALLM_RESPONSES_FOLDER", parseOptionalPath),
    generate: read("LOCALLM_GENERATE", oneOf("auto", "raw", "template")),
    ollamaVersion: read("LOCALLM_OLLAMA_VERSION", parseVersion),
    specialTokens: read("LOCALLM_SPECIAL_TOKENS", oneOf("template", "everywhere")),
    registries: read("LOCALLM_REGISTRIES", parseRegistries),
    remotes: read("LOCALLM_REMOTES", parseRemotes),
    imageHosts: read("LOCALLM_IMAGE_HOSTS", parseRemotes),
    remoteTimeoutMs: read("LOCALLM_REMOTE_TIMEOUT", parseTimeout),
    caFile: read("LOCALLM_CA_FILE", parseOptionalPath),
    proxy: {
      http: readProxy("HTTP_PROXY"),
      https: readProxy("HTTPS_PROXY"),
      except: trimmed(environment["NO_PROXY"]) ?? trimmed(environment["no_proxy"]) ?? null,
    },
  };
}

/**
 * Like `readConfig`, for commands other than `serve`: they do not fail on invalid settings that only the server needs.
 */
export function readCommandConfig(environment: Environment = process.env): CommandConfig {
  const read = reader(environment);
  const credentialsFile = read("LOCALLM_CREDENTIALS", parsePath);
  return {
    releases: {
      from: read("LOCALLM_RELEASES", (text) => text || null),
      key: read("LOCALLM_RELEASE_KEY", (text) => text || null),
      isChecked: read("LOCALLM_UPDATE_CHECK", oneOf("off", "on")) === "on",
    },
    host: read("LOCALLM_HOST", parseHost),
    modelsFolder: read("LOCALLM_MODELS", parsePath),
    apiKey: read("LOCALLM_API_KEY", parseApiKey),
    keysFolder: read("LOCALLM_KEYS", parsePath),
    credentialsFile,
    remoteHostsFile: join(dirname(credentialsFile), "remotes.json"),
    drainedHostsFile: join(dirname(credentialsFile), "drained.json"),
    launchFolder: join(dirname(credentialsFile), "launch"),
  };
}

export function readGpuSettings(environment: Environment = process.env): GpuSettings {
  const read = reader(environment);
  /** An empty variable hides all devices, unlike an unset one. */
  const readDevices = (variable: string, isDevice: RegExp): string | null => {
    const text = environment[variable]?.trim();
    return text === undefined ? null : checked(variable, text, parseDevices(isDevice));
  };
  return {
    intelGpu: read("LOCALLM_INTEL_GPU", (text) => (text === "" ? false : parseBoolean(text))),
    cudaVisibleDevices: readDevices("CUDA_VISIBLE_DEVICES", cudaDevice),
    vulkanVisibleDevices: readDevices("GGML_VK_VISIBLE_DEVICES", /^(-?\d+|none)$/i),
    enginesFolder: read("LOCALLM_ENGINES", parsePath),
  };
}

function reader(environment: Environment) {
  return <Value>(variable: string, parse: (text: string) => Value | Problem): Value =>
    checked(variable, trimmed(environment[variable]) ?? byDefault(variable), parse);
}

/** All settings for the log, without secrets. */
export function shownConfig({ host, apiKey, proxy, ...rest }: Config): Record<string, unknown> {
  const isSet = (secret: string | null) => (secret === null ? "not set" : "set");
  const shown: Record<string, unknown> = {
    host: { ...host },
    apiKey: isSet(apiKey),
    proxy: { http: isSet(proxy.http), https: isSet(proxy.https), except: proxy.except },
    ...rest,
  };
  // JSON has no Infinity.
  const entries = Object.entries(shown).map(([name, value]) => [
    name,
    value === Infinity ? "unlimited" : value,
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** The URL for clients on this machine. */
export function baseUrl(host: HostAddress): string {
  const name = host.hostname === null || host.hostname === "0.0.0.0" ? "127.0.0.1" : host.hostname;
  const bracketed = name === "::" ? "[::1]" : name.includes(":") ? `[${name}]` : name;
  return `${host.scheme}://${bracketed}:${host.port}${host.path}`;
}

function checked<Value>(variable: string, text: string, parse: (text: string) => Value | Problem): Value {
  const value = parse(text);
  if (!(value instanceof Problem)) return value;
  // An API key is a secret, and a proxy address may contain a password.
  const isSecret = variable === "LOCALLM_API_KEY" || /_proxy$/i.test(variable);
  const shown = isSecret ? "not usable" : JSON.stringify(text);
  throw new LocallmError("invalid_setting", { variable, value: shown, problem: value.text });
}

/** The reason why a value is invalid. */
class Problem {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function parseHost(text: string): HostAddress | Problem {
  const schemeEnd = text.indexOf("://");
  const scheme = schemeEnd < 0 ? "http" : text.slice(0, schemeEnd).toLowerCase();
  if (scheme !== "http" && scheme !== "https") return new Problem("the scheme must be http or https");
  const rest = schemeEnd < 0 ? text : text.slice(schemeEnd + 3);
  const slash = rest.indexOf("/");
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const path = slash < 0 ? "" : rest.slice(slash).replace(/\/+$/, "");

  const split = splitPort(authority);
  if (split === null) return new Problem(`"${authority}" is not a host, host:port or :port`);
  const implied = schemeEnd < 0 ? defaultPort : scheme === "https" ? 443 : 80;
  const port = split.port === null ? implied : Number(split.port);
  if (split.port !== null && (!/^\d{1,5}$/.test(split.port) || port > 65_535))
    return new Problem("the port must be a number between 0 and 65535");
  return { scheme, hostname: split.hostname === "" ? null : split.hostname, port, path };
}

const defaultPort = 11_434;

function splitPort(authority: string): { hostname: string; port: string | null } | null {
  const bracketed = /^\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\](?::(.*))?$/.exec(authority);
  if (bracketed) return { hostname: bracketed[1] ?? "", port: bracketed[2] ?? null };
  const isBareIpv6 = (authority.match(/:/g)?.length ?? 0) > 1;
  if (isBareIpv6) return /^[0-9A-Fa-f:.]+$/.test(authority) ? { hostname: authority, port: null } : null;
  const [hostname = "", port = null] = authority.split(":");
  if (!/^[A-Za-z0-9_.-]*$/.test(hostname) || (hostname === "" && port === null && authority !== ""))
    return null;
  return { hostname, port };
}

function parseVersion(text: string): string | Problem {
  return /^\d{1,4}\.\d{1,4}\.\d{1,4}(-[0-9A-Za-z.-]{1,40})?$/.test(text)
    ? text
    : new Problem("must be a version such as 0.33.0");
}

function integerBetween(min: number, max: number) {
  return (text: string): number | Problem => {
    const value = Number(text);
    return /^\d{1,15}$/.test(text) && value >= min && value <= max
      ? value
      : new Problem(`must be an integer between ${min} and ${max}`);
  };
}

function oneOf<const Values extends readonly string[]>(...values: Values) {
  return (text: string): Values[number] | Problem =>
    values.includes(text) ? text : new Problem(`must be one of ${values.join(", ")}`);
}

function parseBoolean(text: string): boolean | Problem {
  const word = text.toLowerCase();
  if (["1", "t", "true", "on", "yes"].includes(word)) return true;
  if (["0", "f", "false", "off", "no"].includes(word)) return false;
  return new Problem("must be true or false");
}

function parseFlashAttention(text: string): Config["flashAttention"] | Problem {
  if (text.toLowerCase() === "auto") return "auto";
  const on = parseBoolean(text);
  return on instanceof Problem ? new Problem("must be auto, on or off") : on ? "on" : "off";
}

function parseKvCacheType(
  text: string,
  flashAttention: Config["flashAttention"],
): Config["kvCacheType"] | Problem {
  const type = oneOf("f16", "q8_0", "q4_0")(text);
  // Without flash attention the engine cannot use a quantised cache, so no model would load.
  if (flashAttention === "off" && type !== "f16" && !(type instanceof Problem))
    return new Problem("needs flash attention, which LOCALLM_FLASH_ATTENTION turns off");
  return type;
}

function parseContextLength(text: string): number | "auto" | Problem {
  if (text.toLowerCase() === "auto") return "auto";
  const length = integerBetween(1, 2 ** 31 - 1)(text);
  return length instanceof Problem ? new Problem(`${length.text}, or auto`) : length;
}

function parseCacheRam(text: string): number | null | Problem {
  if (text.toLowerCase() === "auto") return null;
  return parseSize(text) ?? new Problem("must be a size such as 2GiB or 500MB, 0 or auto");
}

/** The most memory for conversations that lost their slot. `auto` takes an eighth of what is available. */
export function cacheLimitBytes(
  { cacheRamBytes }: Pick<Config, "cacheRamBytes">,
  availableBytes: number,
): number {
  return cacheRamBytes ?? Math.min(Math.floor(availableBytes / 8), 8 * 2 ** 30);
}

function parseCacheDisk(text: string, cacheRamBytes: Config["cacheRamBytes"]): number | Problem {
  const bytes = parseSize(text);
  if (bytes === null) return new Problem("must be a size such as 20GiB or 500MB, or 0");
  // A conversation reaches the disk only through memory.
  if (bytes > 0 && cacheRamBytes === 0)
    return new Problem("needs memory, which LOCALLM_CACHE_RAM=0 turns off");
  return bytes;
}

function parseResponses(text: string): number | Problem {
  return parseSize(text) ?? new Problem("must be a size such as 64MiB or 500MB, or 0");
}

function parseMargin(text: string): number | Problem {
  return parseSize(text) ?? new Problem("must be a size such as 1GiB or 500MB, or 0");
}

function parseShares(text: string): readonly number[] | null | Problem {
  if (text === "") return null;
  const shares = text.split(",").map((share) => (share.trim() === "" ? Number.NaN : Number(share)));
  const isRight = shares.length <= 16 && shares.every((share) => share >= 0 && share <= 1e9);
  return isRight && shares.some(Boolean)
    ? shares
    : new Problem("must be at most 16 numbers from 0 on, separated by commas, of which one is larger");
}

/**
 * Parses a number of bytes, with or without a unit: powers of 1000 (`KB`, `MB` …) or of 1024 (`KiB`, `MiB`
 * …). Returns null if the text is not a size.
 */
function parseSize(text: string): number | null {
  const [, number, unit = ""] = /^(\d{1,15}(?:\.\d{1,6})?) ?(?:([KMGT]i?)?B?)$/i.exec(text) ?? [];
  if (number === undefined) return null;
  const power = " KMGT".indexOf(unit.charAt(0).toUpperCase() || " ");
  const bytes = Math.floor(Number(number) * (unit.length === 2 ? 1024 : 1000) ** power);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** Matches a number, an NVIDIA device ID, or one of CUDA's words for no device. */
const cudaDevice = /^(-?\d+|(GPU|MIG)-[\w/-]+|none|NoDevFiles)$/i;

function parseDevices(isDevice: RegExp) {
  return (text: string): string | Problem =>
    text === "" || text.split(",").every((device) => isDevice.test(device.trim()))
      ? text
      : new Problem("must be comma-separated GPU numbers; -1 or an empty value means none");
}

/** Parses a proxy address. Without a scheme it is an http proxy, as in other programs. */
function parseProxy(text: string): string | Problem {
  const address = text.includes("://") ? text : `http://${text}`;
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== ""
    ? address
    : new Problem(
        "must be an http or https proxy such as http://proxy.example:3128 (SOCKS is not supported); unset it to use no proxy",
      );
}

function parseKeepAliveSetting(text: string): number | Problem {
  try {
    return parseKeepAlive(text);
  } catch {
    return new Problem('must be seconds or a duration such as "10m"; a negative value means forever');
  }
}

function parseTimeout(text: string): number | Problem {
  const valueMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : parseDuration(text);
  if (valueMs === null) return new Problem('must be seconds or a duration such as "5m"; 0 means no limit');
  return valueMs <= 0 ? Number.POSITIVE_INFINITY : valueMs;
}

function parseStopTimeout(text: string): number | null | Problem {
  if (text === "") return null;
  const valueMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : parseDuration(text);
  if (valueMs === null || valueMs < 0 || valueMs > longestStopMs)
    return new Problem('must be seconds or a duration up to 1h, such as "5m"');
  return valueMs;
}

/** Callers wait for the next process meanwhile. */
const longestStopMs = 3_600_000;

function parseOptionalPath(text: string): string | null | Problem {
  return text === "" ? null : parsePath(text);
}

function parsePath(text: string): string | Problem {
  if (text.includes("\0")) return new Problem("must be a path");
  const expanded = text === "~" || text.startsWith("~/") ? join(homedir(), text.slice(1)) : text;
  return isAbsolute(expanded) ? expanded : resolve(expanded);
}

function parseRegistries(text: string): readonly string[] | null | Problem {
  if (text === "") return null;
  const hosts = text.split(",").map((host) => host.trim().toLowerCase());
  const isHost = (host: string) => /^[a-z0-9_][a-z0-9_.-]*(:\d{1,5})?$/.test(host);
  return hosts.every(isHost) ? hosts : new Problem("must be comma-separated host names");
}

function parseRemotes(text: string): Config["remotes"] | Problem {
  return (
    parseNamedHosts(text) ?? new Problem("must be comma-separated hosts, each with or without a port, or *")
  );
}

function parseOrigins(text: string): readonly string[] | Problem {
  const origins = text
    .split(",")
    .map((origin) => origin.trim().toLowerCase().replace(/\/$/, ""))
    .filter((origin) => origin !== "");
  const bad = origins.find((origin) => !/^(\*|null|[a-z][a-z0-9+.*-]*:\/\/[^/\s]*)$/.test(origin));
  return bad === undefined ? origins : new Problem(`"${bad}" is not an origin such as https://app.example`);
}

function parseApiKey(text: string): string | null | Problem {
  if (text === "") return null;
  return /^[\x21-\x7e]{1,512}$/.test(text)
    ? text
    : new Problem("must be ASCII without spaces, up to 512 characters");
}

/** An empty variable counts as unset. Removes surrounding spaces and quotes, which come from env files and scripts. */
function trimmed(text: string | undefined): string | undefined {
  const value = text
    ?.trim()
    .replace(/^(["'])(.*)\1$/, "$2")
    .trim();
  return value === "" ? undefined : value;
}

function byDefault(variable: string): string {
  return settings.find((entry) => entry.variable === variable)?.byDefault ?? "";
}

function setting(variable: string, defaultText: string, meaning: string): Setting {
  return { variable, byDefault: defaultText, meaning };
}
