import { createHmac, timingSafeEqual } from "node:crypto";
import { NotGenuine } from "../provider.ts";

/** How old a notification may be; Stripe signs each attempt anew. */
const TOLERANCE_S = 300;

/**
 * Checks the header Stripe-Signature: `t=<seconds>,v1=<HMAC-SHA256 of "t.body" in hex>`, with several `v1` while a
 * secret is rotated (https://docs.stripe.com/webhooks#verify-manually). Throws `NotGenuine`.
 */
export function verifySignature(header: string, body: Buffer, secret: string, now: Date): void {
  const parts = header.split(",").map((part) => part.trim().split("=", 2) as [string, string?]);
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  const signatures = parts.flatMap(([name, value]) => (name === "v1" && value ? [value] : []));
  if (!/^\d{1,12}$/.test(time) || signatures.length === 0)
    throw new NotGenuine("it has no usable Stripe-Signature", "没有可用的 Stripe-Signature 请求头");
  if (!signatures.some((one) => isSame(one, sign(time, body, secret))))
    throw new NotGenuine("its signature is wrong", "签名不对");
  if (Math.abs(now.getTime() / 1000 - Number(time)) > TOLERANCE_S)
    throw new NotGenuine(
      "it was signed more than five minutes ago, or in the future",
      "签名时间早于五分钟前，或在将来",
    );
}

function sign(time: string, body: Buffer, secret: string): string {
  return createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex");
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
