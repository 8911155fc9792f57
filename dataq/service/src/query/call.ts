import { createHash } from "node:crypto";
import type { Principal } from "../accounts/principal.ts";

/** One paid call as HTTP received it. */
export interface Call {
  readonly requestId: string;
  readonly principal: Principal;
  readonly body: unknown;
  /** Number of records to skip, for a profile without pages. */
  readonly offset?: number;
  readonly idempotencyKey?: string | undefined;
  /** `Prefer: handling=lenient`. */
  readonly lenient: boolean;
  /** Of the Cache-Control header; a `cache` in the body counts before it. */
  readonly cacheControl?: "bypass" | "only" | undefined;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Called as soon as the operation is known, so that logs name it even if the call fails. */
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
