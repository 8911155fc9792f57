import { createHash } from "node:crypto";
import { LocallmError } from "../wire/errors.ts";

/**
 * `sha256:` and 64 lower-case hex digits. Only the functions below create one, so that every Digest is safe to use
 * in a file name.
 */
export type Digest = string & { readonly __digest: never };

/** Accepts Ollama's two spellings `sha256:…` and `sha256-…`. Null for anything else, including upper case. */
export function parseDigest(text: unknown): Digest | null {
  if (typeof text !== "string" || !/^sha256[:-][0-9a-f]{64}$/.test(text)) return null;
  return `sha256:${text.slice(7)}` as Digest;
}

export function requireDigest(text: unknown): Digest {
  const digest = parseDigest(text);
  if (digest === null) throw new LocallmError("invalid_digest", {});
  return digest;
}

export function digestOf(bytes: string | Uint8Array): Digest {
  return digestFromHex(createHash("sha256").update(bytes).digest("hex"));
}

/** `hex` must be the 64 digits of a computed SHA-256 hash; it is not checked. */
export function digestFromHex(hex: string): Digest {
  return `sha256:${hex}` as Digest;
}

export function digestHex(digest: Digest): string {
  return digest.slice(7);
}
