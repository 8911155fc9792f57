import type { Database } from "../database/database.ts";

/** What every service knows about a vendor. */
export interface VendorState {
  /** Calls that were sent since the database last started without a crash. */
  readonly calls: number;
  /** Why the last call failed; null if it did not. */
  readonly lastFailure: string | null;
}

/** A refusal before the call is sent. */
export type GateRefusal =
  | { readonly refused: "full" }
  | { readonly refused: "open"; readonly retryAfterS: number; readonly lastFailure: string | null };

/** Number of consecutive failures that stop calls, and for how long. */
const FAILURES = 5;
const COOL_DOWN_MS = 30_000;

/**
 * Limits the concurrent calls to a vendor, and stops calls after several consecutive failures (a circuit breaker): after
 * a pause, one call finds out whether the vendor works again. The state is in the database, so it is exact over all
 * services; it costs one short statement before and one after a request to another company.
 */
export class VendorGate {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Undefined if the call may be sent; it must then end with `leave`, or counts as open for `leaseMs`. */
  async enter(call: {
    readonly id: string;
    readonly operation: string;
    readonly mostAtOnce: number;
    readonly leaseMs: number;
    readonly nowMs: number;
  }): Promise<GateRefusal | undefined> {
    const found = await this.#database.query<{
      refused: "full" | "open" | null;
      wait_ms: number | null;
      last_failure: string | null;
    }>({
      name: "vendor-enter",
      text: "select * from enter_vendor($1, $2, $3, $4, $5, $6)",
      values: [call.operation, call.id, call.nowMs, call.mostAtOnce, call.leaseMs, COOL_DOWN_MS],
    });
    const { refused, wait_ms, last_failure } = found.rows[0]!;
    if (refused === null) return undefined;
    if (refused === "full") return { refused };
    return {
      refused,
      retryAfterS: Math.max(1, Math.ceil((wait_ms ?? 0) / 1000)),
      lastFailure: last_failure,
    };
  }

  /** `failure` is null for an answer, and undefined for a call that says nothing about the vendor. */
  async leave(
    id: string,
    operation: string,
    nowMs: number,
    failure: string | null | undefined,
  ): Promise<void> {
    const outcome = failure === undefined ? "left" : failure === null ? "answered" : "failed";
    await this.#database.query({
      name: "vendor-leave",
      text: "select leave_vendor($1, $2, $3, $4, $5, $6)",
      values: [operation, id, nowMs, outcome, failure ?? null, FAILURES],
    });
  }

  async states(): Promise<ReadonlyMap<string, VendorState>> {
    const found = await this.#database.query<{
      operation: string;
      calls: number;
      last_failure: string | null;
    }>("select operation, calls, last_failure from vendor_state");
    return new Map(
      found.rows.map(({ operation, calls, last_failure }) => [
        operation,
        { calls, lastFailure: last_failure },
      ]),
    );
  }
}
