import { BlockList, isIP } from "node:net";

/** Whether `text` is an address or a block of addresses such as 203.0.113.0/24. */
export function isAddressBlock(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (length === undefined) return true;
  return /^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128);
}

/** Whether `address` lies in one of `blocks`. */
export function isAmong(address: string, blocks: readonly string[]): boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [base = "", length] = block.split("/");
    const family = isIP(base) === 4 ? "ipv4" : "ipv6";
    if (length === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(length), family);
  }
  // An IPv4 caller on a socket that also takes IPv6.
  const plain = address.startsWith("::ffff:") ? address.slice(7) : address;
  return list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
}
