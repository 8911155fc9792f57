import { keyPattern } from "../accounts/key-text.ts";

/** Shortens everything that looks like a key: logs, errors and exports must not contain a whole key. */
export function scrub(text: string): string {
  return text.includes("dq_") ? text.replace(keyPattern, (key) => `${key.slice(0, 8)}…`) : text;
}
