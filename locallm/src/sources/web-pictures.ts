import { bareHostname } from "../wire/address.ts";
import { LocallmError } from "../wire/errors.ts";
import { hostAndPort, type NamedHosts } from "../wire/remote-address.ts";
import type { Network, NetworkResponse } from "./network.ts";
import { readBody } from "./network-answer.ts";
import { acceptsAddress, permissionOf } from "./remote-hosts.ts";

const maxRedirects = 3;
/** How long a server may be silent. */
const silenceMs = 15_000;

/**
 * Fetches pictures that requests name by their address. Only from the hosts of LOCALLM_IMAGE_HOSTS, because whoever sends
 * a request would otherwise have this machine ask any address for it.
 */
export class WebPictures {
  readonly #network: Network;
  readonly #hosts: NamedHosts;

  constructor(network: Network, hosts: NamedHosts) {
    this.#network = network;
    this.#hosts = hosts;
  }

  /** Throws `picture_host_not_allowed`, `source_failed`, and the errors of the network. */
  async fetch(
    address: string,
    { limitBytes, signal }: { readonly limitBytes: number; readonly signal: AbortSignal },
  ): Promise<Buffer> {
    let url = parsed(address);
    for (let hop = 0; ; hop++) {
      const response = await this.#ask(url, signal);
      const { location } = response.headers;
      if (response.status < 300 || response.status > 399 || location === undefined)
        return await bodyOf(response, limitBytes);
      response.body.destroy();
      if (hop === maxRedirects) throw failed(url, `it redirects more than ${maxRedirects} times`);
      url = parsed(location, url);
    }
  }

  async #ask(url: URL, signal: AbortSignal): Promise<NetworkResponse> {
    const permission = permissionOf(this.#hosts, url.href);
    if (permission === null)
      throw new LocallmError("picture_host_not_allowed", { host: hostAndPort(url.href) });
    return await this.#network.request(url, {
      signal,
      silenceMs,
      redirects: "return",
      insecure: permission === "named",
      accepts: (address) => acceptsAddress(permission, bareHostname(url), address),
    });
  }
}

async function bodyOf(response: NetworkResponse, limitBytes: number): Promise<Buffer> {
  const { status, url } = response;
  if (status === 200) return await readBody(response, limitBytes);
  response.body.destroy();
  throw failed(url, `it answered ${status}`);
}

function parsed(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "")
    return url;
  throw new LocallmError("invalid_field", {
    field: "an image's URL",
    problem: "must be a data: URL, or an http or https URL without a password",
  });
}

function failed(url: URL, reason: string): LocallmError {
  return new LocallmError("source_failed", { host: url.host, reason });
}
