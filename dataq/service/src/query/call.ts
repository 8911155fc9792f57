import { createHash } from "node:crypto";
import type { Principal } from "../accounts/principal.ts";

/** One paid call as HTTP received it. */
export interface Call {
  readonly requestId: string;
  readonly principal: Principal;
  readonly body: unknown;
  /** Where the list begins, for a profile that does not count in pages. */
  readonly offset?: number;
  readonly idempotencyKey?: string | undefined;
  /** `Prefer: handling=lenient`. */
  readonly lenient: boolean;
  /** Of the Cache-Control header; a `cache` in the body counts before it. */
  readonly cacheControl?: "bypass" | "only" | undefined;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Told as soon as it is known, for logs: also of calls that then fail. */
  readonly onOperation?: (operation: string) => void;
}

/**
 * What a retry under the same Idempotency-Key must send again: the request as it came. A date or another value that the
 * service fills in is not part of it, because it may be a different one at the time of the retry.
 */
export function fingerprintOf({ body, offset, lenient, cacheControl }: Call): Buffer {
  const text = JSON.stringify([body, offset ?? null, lenient, cacheControl ?? null], (_name, value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash("sha256").update(text).digest();
}
