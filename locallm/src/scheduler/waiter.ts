import type { Lease, LeaseRequest } from "./lease.ts";
import type { Waiting } from "./queue.ts";

/** A request that waits for a lease. Its line is the key of the runner that it needs (see `lineOf`). */
export interface Waiter extends Waiting {
  readonly request: LeaseRequest;
  /** Requested context length, capped at the model's training context. */
  readonly numCtx: number;
  /** Smallest acceptable context length; less than `numCtx` for a visit. */
  readonly minCtx: number;
  /** The request's value, or 0 if `keep_alive: 0` was set while the request waited. */
  keepAliveMs: number;
  readonly sinceMs: number;
  readonly settle: { resolve(lease: Lease): void; reject(error: unknown): void };
}
