import { BlockList, isIP } from "node:net";

/** The host name of a URL without brackets and without a trailing dot. */
export function bareHostname(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
}

/** Whether a host name or address always refers to the local machine. IPv6 without brackets. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  return (
    name === "localhost" || name.endsWith(".localhost") || (isIP(name) > 0 && contains(loopback, plain(name)))
  );
}

/**
 * Whether an address is not public: loopback, private, link-local, multicast, and the IPv6 ranges that embed IPv4
 * addresses (from IANA's special-purpose address registries). Also true for text that is not an address.
 */
export function isPrivateAddress(address: string): boolean {
  return isIP(address) === 0 || contains(privateNetworks, plain(address));
}

/** Whether an address belongs to a private network, such as a home or company network, or to a VPN. */
export function isLanAddress(address: string): boolean {
  return isIP(address) > 0 && contains(lanNetworks, plain(address));
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plain(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function blockList(ipv4: readonly [string, number][], ipv6: readonly [string, number][]): BlockList {
  const list = new BlockList();
  for (const [net, bits] of ipv4) list.addSubnet(net, bits, "ipv4");
  for (const [net, bits] of ipv6) list.addSubnet(net, bits, "ipv6");
  return list;
}

const loopback = blockList([["127.0.0.0", 8]], [["::1", 128]]);

const lanNetworks = blockList(
  [
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["172.16.0.0", 12],
    ["192.168.0.0", 16],
  ],
  [["fc00::", 7]],
);

const privateNetworks = blockList(
  [
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
  ],
  [
    ["::", 128],
    ["::1", 128],
    // NAT64, its local prefix, Teredo and 6to4: they embed an IPv4 address.
    ["64:ff9b::", 96],
    ["64:ff9b:1::", 48],
    ["2001::", 32],
    ["2002::", 16],
    ["fc00::", 7],
    ["fe80::", 10],
    ["fec0::", 10],
    ["ff00::", 8],
  ],
);
