import type { CredentialsFile } from "../sources/credentials.ts";
import type { RemoteHosts } from "../sources/remote-hosts.ts";
import { LocallmError } from "../wire/errors.ts";
import type { RemoteAddress } from "../wire/remote-address.ts";
import type { Protocol, RemoteEngine, RemoteFetch } from "./engine.ts";
import { engineWords } from "./failure.ts";
import { isListed } from "./replica.ts";

export interface ReplicaCheck {
  readonly isUsable: boolean;
  /** What was found, without secrets. */
  readonly found: string;
}

export interface CheckParts {
  readonly hosts: Pick<RemoteHosts, "require">;
  readonly credentials: Pick<CredentialsFile, "remoteKeys">;
  readonly engines: Readonly<Record<Protocol, RemoteEngine>>;
  readonly fetch: RemoteFetch;
  readonly signal: AbortSignal;
}

/** Asks a replica whether it can be reached, accepts the key and has the model. */
export async function checkReplica(
  { url, model, protocol, key: name, weight, requests }: RemoteAddress,
  { hosts, credentials, engines, fetch, signal }: CheckParts,
): Promise<ReplicaCheck> {
  try {
    await hosts.require(url);
    const [key = null] = await credentials.remoteKeys([{ key: name, url }]);
    const upstream = { url, model, protocol, key, weight, maxRequests: requests };
    const { models } = await engines[protocol].probe(upstream, { fetch, signal });
    const found = ["reachable", ...(key === null ? [] : [`accepts the key ${name}`])];
    if (models === null) return { isUsable: true, found: [...found, "does not list its models"].join(", ") };
    if (isListed(model, models)) return { isUsable: true, found: [...found, "has the model"].join(", ") };
    const listed = models.length === 0 ? "none" : models.slice(0, 5).map(engineWords).join(", ");
    return { isUsable: false, found: `has no model ${model}; its models: ${listed}` };
  } catch (error) {
    if (signal.aborted) return { isUsable: false, found: "no answer in time" };
    if (!(error instanceof LocallmError)) throw error;
    return { isUsable: false, found: error.message };
  }
}
