import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * `<prefix>_` and 26 characters: 48 bits of time, then 80 random bits, in an order that sorts by time (as in ULID),
 * so that new rows are at the end of their index.
 */
export function makeIdentifier(prefix: string, now: Date): string {
  let time = now.getTime();
  let head = "";
  for (let i = 0; i < 10; i++) {
    head = ALPHABET[time % 32]! + head;
    time = Math.floor(time / 32);
  }
  let tail = "";
  for (const byte of randomBytes(16)) tail += ALPHABET[byte & 31]!;
  return `${prefix}_${head}${tail}`;
}
