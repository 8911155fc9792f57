import { createHmac, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { KeyMode } from "@dataq/contract/wire";

/** The text of a key: `dq_live_` or `dq_test_`, 30 random characters, 6 check characters. */
export const keyPattern = /dq_(?:live|test)_[0-9A-Za-z]{36}/g;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 30;
const CHECK_LENGTH = 6;

export function makeKeyText(mode: KeyMode): string {
  let body = `dq_${mode}_`;
  for (let i = 0; i < RANDOM_LENGTH; i++) body += ALPHABET[randomInt(ALPHABET.length)]!;
  return body + checkOf(body);
}

/** The mode of a key; undefined for a text that cannot be a key. Does not query the database. */
export function readKeyText(text: string): KeyMode | undefined {
  const match = /^dq_(live|test)_[0-9A-Za-z]{36}$/.exec(text);
  if (!match) return undefined;
  const body = text.slice(0, -CHECK_LENGTH);
  return text.endsWith(checkOf(body)) ? (match[1] as KeyMode) : undefined;
}

/** The HMAC, which is stored instead of the key. */
export function hmacOf(text: string, pepper: string): Buffer {
  return createHmac("sha256", pepper).update(text).digest();
}

/** CRC-32 of everything before it, in base 62. */
function checkOf(body: string): string {
  let value = crc32(body);
  let check = "";
  for (let i = 0; i < CHECK_LENGTH; i++) {
    check = ALPHABET[value % ALPHABET.length]! + check;
    value = Math.floor(value / ALPHABET.length);
  }
  return check;
}
