import type { Get, Updatable } from "@locallm/updates";
import { readCommandConfig, readConfig } from "../config.ts";
import { Network } from "../sources/network.ts";
import { networkSettings } from "../sources/network-settings.ts";
import { version } from "../version.ts";

/** This program, and where newer versions of it are. */
export function updatable(): Updatable {
  const { from, key } = readCommandConfig().releases;
  return {
    product: "locallm",
    version,
    modules: new URL("../../", import.meta.url),
    from,
    key,
    variables: { from: "LOCALLM_RELEASES", key: "LOCALLM_RELEASE_KEY" },
    get,
  };
}

/** An address that the owner set may be a plain server of the own network; the signature says whose the files are. */
const get: Get = async (address) => {
  const network = new Network({ ...(await networkSettings(readConfig())), namedHosts: [address.host] });
  const signal = AbortSignal.timeout(longestMs);
  const { status, headers, body } = await network.request(address, { signal, insecure: true });
  const length = Number(headers["content-length"]);
  return { status, bytes: Number.isSafeInteger(length) ? length : null, body: closing(body, network) };
};

const longestMs = 6 * 3_600_000;

async function* closing(body: AsyncIterable<Buffer>, network: Network): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } finally {
    network.close();
  }
}
