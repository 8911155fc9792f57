import { keyPattern } from "../accounts/key-text.ts";

/** Replaces whatever looks like a key: in logs, errors and exports no key may stand in full. */
export function scrub(text: string): string {
  return text.includes("dq_") ? text.replace(keyPattern, (key) => `${key.slice(0, 8)}…`) : text;
}
