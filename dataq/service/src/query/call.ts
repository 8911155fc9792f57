import type { Principal } from "../accounts/key.ts";

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
