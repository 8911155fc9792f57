import { createHmac } from "node:crypto";

/** RFC 6238 with SHA-1, six digits and 30 seconds, as authenticator apps do. */
export function codeOf(secret: string, nowMs = Date.now()): string {
  let bits = "";
  for (const letter of secret.replaceAll("=", ""))
    bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / 30_000)));
  const digest = createHmac("sha1", key).update(counter).digest();
  const number = digest.readUInt32BE(digest[19]! & 15) & 0x7fff_ffff;
  return String(number % 1_000_000).padStart(6, "0");
}
