import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { ImportError } from "../import-error.ts";

const privateBlocks = new BlockList();
for (const [base, length] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const)
  privateBlocks.addSubnet(base, length, "ipv4");
for (const [base, length] of [
  ["::", 127],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  privateBlocks.addSubnet(base, length, "ipv6");

/** Whether an address belongs to this machine or to a network around it. */
export function isPrivateAddress(address: string): boolean {
  const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  const version = isIP(plain);
  return version === 0 || privateBlocks.check(plain, version === 4 ? "ipv4" : "ipv6");
}

/**
 * Throws if a server on the internet redirects a download to plain HTTP, or into a network that only this machine can
 * reach. An operator who names a private address themselves may be redirected within that network.
 */
export function assertSafeRedirect(from: URL, to: URL, fromAddress: string): void {
  const file = from.pathname.split("/").pop() || "the file";
  if (from.protocol === "https:" && to.protocol !== "https:")
    throw new ImportError("unsafe_redirect", { file, address: to.origin });
  const host = to.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && isPrivateAddress(host) && !isPrivateAddress(fromAddress))
    throw new ImportError("unsafe_redirect", { file, address: to.origin });
}

/** Resolves the name in a redirect from the internet, because a name may point to a private address. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, "", 4);
    const isRefused = addresses.some(({ address }) => isPrivateAddress(address));
    const [first] = addresses;
    if (isRefused || !first) {
      const refused = new ImportError("unsafe_redirect", { file: "The file", address: hostname });
      return callback(refused as NodeJS.ErrnoException, "", 4);
    }
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
