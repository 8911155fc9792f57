import { BlockList, isIP } from "node:net";

/** Whether `address` is in one of `blocks`. */
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

/** Whether every address and block of `inner` lies in one block of `outer`. */
export function areWithin(inner: readonly string[], outer: readonly string[]): boolean {
  return inner.every((block) => {
    const [base = "", length] = block.split("/");
    const own = lengthOf(base, length);
    return outer.some((wider) => {
      const [widerBase = "", widerLength] = wider.split("/");
      if (isIP(base) !== isIP(widerBase)) return false;
      return lengthOf(widerBase, widerLength) <= own && isAmong(base, [wider]);
    });
  });
}

function lengthOf(base: string, length: string | undefined): number {
  return length === undefined ? (isIP(base) === 4 ? 32 : 128) : Number(length);
}

export function isLoopback(address: string): boolean {
  return isAmong(address, ["127.0.0.0/8", "::1"]);
}

/** The unit of rate limits: an IPv4 address, or an IPv6 /64 block, which one subscriber has. */
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

/** Converts the address of an IPv4 caller on a socket that also accepts IPv6. */
function unmapped(address: string): string {
  const match = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return match?.[1] ?? address;
}
