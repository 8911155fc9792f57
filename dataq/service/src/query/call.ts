import { createHash } from "node:crypto";
import type { Language } from "@dataq/contract";
import type { Principal } from "../accounts/principal.ts";
import type { SessionBudget } from "../ledger/session-spend.ts";

/** One paid call as received over HTTP. */
export interface Call {
  readonly requestId: string;
  readonly principal: Principal;
  readonly body: unknown;
  /** Number of records to skip, for a request format without pages. */
  readonly offset?: number;
  readonly idempotencyKey?: string | undefined;
  /** The language of the warnings. A retry may ask in another. */
  readonly language: Language;
  /** `Prefer: handling=lenient`. */
  readonly lenient: boolean;
  /** From the Cache-Control header. A `cache` in the body takes precedence. */
  readonly cacheControl?: "bypass" | "only" | "none" | undefined;
  /** What the calls of the caller's session may spend together. */
  readonly budget?: SessionBudget | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Called as soon as the operation is known, so that logs name it even if the call fails. */
  readonly onOperation?: (operation: string) => void;
}

/**
 * What a retry with the same Idempotency-Key must repeat: the request as received. Values that the service fills in,
 * such as a date, are not part of it, because they may differ at the time of the retry.
 */
export function fingerprintOf({ body, offset, lenient, cacheControl }: Call): Buffer {
  const text = JSON.stringify([body, offset ?? null, lenient, cacheControl ?? null], (_name, value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash("sha256").update(text).digest();
}
