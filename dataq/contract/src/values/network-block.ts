import { z } from "zod";

const networkBlock = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** Whether `text` is an IP address or a block of addresses such as 203.0.113.0/24. */
export function isNetworkBlock(text: string): boolean {
  return networkBlock.safeParse(text).success;
}
