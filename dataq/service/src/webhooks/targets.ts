import { isIP } from "node:net";
import { invalid } from "@dataq/contract";
import { isLoopback } from "../accounts/address.ts";
import { isPrivateAddress } from "../network/private-address.ts";

/**
 * DATAQ_WEBHOOK_TARGETS. `public`: https to public addresses. `local`: this machine too, also over http. `any`: also
 * private networks, over http and https.
 */
export const targetRules = ["public", "local", "any"] as const;
export type TargetRule = (typeof targetRules)[number];

/** Whether a message may be sent to an address. Checked for every connection, because names change. */
export function isAllowedAddress(address: string, rule: TargetRule): boolean {
  if (rule === "any" || !isPrivateAddress(address)) return true;
  return rule === "local" && isLoopback(address);
}

/** Whether an address may be reached over plain http: nobody else reads the traffic, or the operator allows it. */
export function needsHttps(address: string, rule: TargetRule): boolean {
  return rule === "public" || !isPrivateAddress(address);
}

/** Throws for a URL that could never be sent to. A name is resolved later, for every connection. */
export function assertPossibleTarget(text: string, rule: TargetRule): void {
  const url = new URL(text);
  const host = hostOf(url);
  const isForbidden = isIP(host) !== 0 && !isAllowedAddress(host, rule);
  const isPlain =
    url.protocol === "http:" && (rule === "public" || (isIP(host) !== 0 && needsHttps(host, rule)));
  if (isForbidden)
    throw invalid(
      "url",
      "format",
      "url has an address that this service does not send to",
      "send a URL with a public address",
      "请使用公网地址",
    );
  if (isPlain)
    throw invalid("url", "format", "url must begin with https://", "send an https URL", "请使用 https 地址");
}

export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}
