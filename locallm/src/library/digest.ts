import { createHash } from "node:crypto";
import { LocallmError } from "../wire/errors.ts";

/**
 * `sha256:` and 64 lower-case hex digits. Only `parseDigest` and `digestOf` make one, so whatever holds a
 * Digest may be turned into a file name.
 */
export type Digest = string & { readonly __digest: never };

/** Accepts Ollama's two spellings, `sha256:…` and `sha256-…`. Null for anything else, upper-case included. */
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

/** `hex` must be the 64 digits of a hash that was just computed. */
export function digestFromHex(hex: string): Digest {
  return `sha256:${hex}` as Digest;
}

export function digestHex(digest: Digest): string {
  return digest.slice(7);
}
