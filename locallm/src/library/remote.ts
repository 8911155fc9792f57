import { z } from "zod";
import type { CreateRequest } from "../wire/api/library.ts";
import { LocallmError } from "../wire/errors.ts";
import {
  isRemoteAddress,
  parseRemoteAddress,
  parseRemoteUrl,
  type RemoteAddress,
  remoteKeyName,
  remoteLimits,
  remoteModelProblem,
  remoteProtocols,
} from "../wire/remote-address.ts";
import type { Instruction } from "./modelfile/instruction.ts";

/** The replicas of a remote model. At least one. */
export type RemoteAddresses = readonly [RemoteAddress, ...RemoteAddress[]];

/** The form of an address in the configuration blob. Omits what has its default. */
export const storedAddress = z.object({
  url: z.string().max(remoteLimits.urlLength),
  model: z.string().max(remoteLimits.modelLength),
  protocol: z.enum(remoteProtocols).default("openai"),
  key: z.string().regex(remoteKeyName).optional(),
  weight: z.int().min(1).max(remoteLimits.weight).default(1),
  requests: z.int().min(1).max(remoteLimits.requests).optional(),
});

export interface RemoteConfig {
  readonly remote_host?: string | undefined;
  readonly remote_model?: string | undefined;
  readonly remotes?: z.input<typeof storedAddress>[] | undefined;
}

/**
 * Returns the addresses in a configuration blob, or null if the model is not remote. Without a list, the model is
 * Ollama's kind of remote model, which speaks Ollama's protocol. Throws `invalid_manifest`.
 */
export function storedRemotes({ remote_host, remote_model, remotes }: RemoteConfig): RemoteAddresses | null {
  const isOllamas = remotes === undefined || remotes.length === 0;
  if (isOllamas && (!remote_host || !remote_model)) return null;
  const stored: z.input<typeof storedAddress>[] = isOllamas
    ? [{ url: remote_host ?? "", model: remote_model ?? "", protocol: "ollama" }]
    : remotes;
  try {
    return checkedAddresses(stored, "remotes");
  } catch (cause) {
    throw new LocallmError("invalid_manifest", { reason: (cause as Error).message }, { cause });
  }
}

/** The fields of the configuration blob. Ollama can read the result, and writes the same for a single Ollama. */
export function remoteConfig(addresses: RemoteAddresses): RemoteConfig {
  const [first] = addresses;
  const isOllamas =
    addresses.length === 1 &&
    first.protocol === "ollama" &&
    first.key === null &&
    first.weight === 1 &&
    first.requests === null;
  return {
    remote_host: first.url,
    remote_model: first.model,
    ...(isOllamas ? {} : { remotes: addresses.map(stored) }),
  };
}

function stored({ url, model, protocol, key, weight, requests }: RemoteAddress) {
  return {
    ...{ url, model, protocol },
    ...(key === null ? {} : { key }),
    ...(weight === 1 ? {} : { weight }),
    ...(requests === null ? {} : { requests }),
  };
}

/**
 * Returns the addresses of a create request: `remotes`, an address in `from`, or Ollama's `remote_host` with the model's
 * name in `from`. Null if the request is for a local model. Throws `invalid_field`.
 */
export function requestedRemotes(
  request: Pick<CreateRequest, "from" | "files" | "remote_host" | "remotes">,
): RemoteAddresses | null {
  const { from = "", remote_host: host = "", remotes = [] } = request;
  const ways = { from: isRemoteAddress(from), remote_host: host !== "", remotes: remotes.length > 0 };
  const named = Object.entries(ways)
    .filter(([, isUsed]) => isUsed)
    .map(([field]) => field);
  if (named.length === 0) return null;
  if (named.length > 1 || (ways.remotes && from !== ""))
    throw invalidField(named.at(-1) ?? "from", "cannot be combined with another address or model name");
  if (Object.keys(request.files ?? {}).length > 0)
    throw invalidField("files", "cannot be combined with the address of an engine");
  if (ways.remotes) return checkedAddresses(remotes, "remotes");
  if (ways.remote_host) {
    const url = host.includes("://") ? host : `http://${host}`;
    if (from === "") throw invalidField("from", "must be the name of the model at remote_host");
    return checkedAddresses([{ url, model: from, protocol: "ollama" }], "remotes");
  }
  const parsed = parseRemoteAddress(from);
  if ("problem" in parsed) throw invalidField("from", parsed.problem);
  return checkedAddresses([parsed], "remotes");
}

interface GivenAddress {
  readonly url: string;
  readonly model: string;
  readonly protocol?: RemoteAddress["protocol"] | undefined;
  readonly key?: string | undefined;
  readonly weight?: number | undefined;
  readonly requests?: number | undefined;
}

function checkedAddresses(given: readonly GivenAddress[], field: string): RemoteAddresses {
  const addresses = given.map((each, index) => {
    const at = `${field}[${index}]`;
    const url = parseRemoteUrl(each.url);
    if (typeof url !== "string") throw invalidField(`${at}.url`, url.problem);
    const problem = remoteModelProblem(each.model);
    if (problem !== null) throw invalidField(`${at}.model`, problem);
    const { model, protocol = "openai", key = null, weight = 1, requests = null } = each;
    return { url, model, protocol, key, weight, requests };
  });
  const seen = new Set<string>();
  for (const [index, { url, model }] of addresses.entries()) {
    const key = `${url}#${model}`;
    if (seen.has(key)) throw invalidField(`${field}[${index}]`, "repeats an address");
    seen.add(key);
  }
  return addresses as unknown as RemoteAddresses;
}

function invalidField(field: string, problem: string): LocallmError {
  return new LocallmError("invalid_field", { field, problem });
}

/** Ollama's fields of a remote model in lists and answers. Empty for a local model. */
export function remoteFields({ remotes }: { readonly remotes: RemoteAddresses | null }) {
  return remotes === null ? {} : { remote_host: remotes[0].url, remote_model: remotes[0].model };
}

/** The lines of a Modelfile. Each group of FROM lines with equal settings is followed by its REMOTE lines. */
export function remoteInstructions(
  addresses: RemoteAddresses,
  info: { readonly context_length?: number | undefined; readonly capabilities?: readonly string[] | null },
): Instruction[] {
  const lines: Instruction[] = [];
  const remote = (name: string, value: string | number | null | undefined) => {
    if (value !== null && value !== undefined && value !== "")
      lines.push({ kind: "remote", name, value: String(value) });
  };
  for (const [index, address] of addresses.entries()) {
    lines.push({ kind: "from", value: `${address.url}#${address.model}` });
    const next = addresses[index + 1];
    if (next !== undefined && settingsKey(next) === settingsKey(address)) continue;
    remote("protocol", address.protocol);
    remote("key", address.key);
    remote("weight", address.weight === 1 ? null : address.weight);
    remote("requests", address.requests);
  }
  remote("context", info.context_length);
  remote("capabilities", info.capabilities?.join(", "));
  return lines;
}

function settingsKey({ protocol, key, weight, requests }: RemoteAddress): string {
  return JSON.stringify([protocol, key, weight, requests]);
}
