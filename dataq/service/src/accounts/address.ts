import { BlockList, isIP } from "node:net";

/** Whether `address` lies in one of `blocks`. */
export function isAmong(address: string, blocks: readonly string[]): boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [base = "", length] = block.split("/");
    const family = isIP(base) === 4 ? "ipv4" : "ipv6";
    if (length === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(length), family);
  }
  const plain = unmapped(address);
  const version = isIP(plain);
  return version !== 0 && list.check(plain, version === 6 ? "ipv6" : "ipv4");
}

export function isLoopback(address: string): boolean {
  return isAmong(address, ["127.0.0.0/8", "::1"]);
}

/** What is counted as one caller: an IPv4 address, or the /64 of IPv6 that one subscriber has to themselves. */
export function callerOf(address: string): string {
  const plain = unmapped(address);
  if (isIP(plain) !== 6) return plain.slice(0, 64);
  const [head = "", tail] = plain.split("%")[0]!.split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail ? tail.split(":") : [];
  // An IPv4 address at the end stands for two groups.
  const length = groups.length + rest.length + (plain.includes(".") ? 1 : 0);
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - length)).fill("0");
  const network = [...groups, ...zeros, ...rest].slice(0, 4);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

/** An IPv4 caller on a socket that also takes IPv6. */
function unmapped(address: string): string {
  const match = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return match?.[1] ?? address;
}
