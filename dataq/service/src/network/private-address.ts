import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

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
  // Gateways translate these to IPv4 addresses, which may be private.
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2001::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
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
 * Resolves a name for a connection, and refuses it if any of its addresses is not allowed. The connection uses the
 * addresses that were checked, so a name cannot change between check and connection.
 */
export function guardedLookup(
  isAllowed: (address: string) => boolean,
  refusal: (hostname: string) => Error,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, "", 4);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => isAllowed(address)))
        return callback(refusal(hostname) as NodeJS.ErrnoException, "", 4);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
