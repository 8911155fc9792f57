import type { Database } from "../database/database.ts";
import type { Limits } from "./tier.ts";

/** Who wants to be let through. */
export interface Admission {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly limits: Limits;
  /** The key's own, lower limit: calls a second, with as many at once. */
  readonly keyPerSecond: number | null;
  readonly now: Date;
  /** The date in China, YYYY-MM-DD. */
  readonly day: string;
}

export type Refusal = "rate_limited" | "concurrency_limited" | "daily_limit";

/** What the headers say, and for a refusal how long to wait. */
export interface Verdict {
  readonly refused: Refusal | null;
  /** Whole seconds after which the same call passes, if nobody else of the account calls; at least 1. */
  readonly retryAfterS: number;
  /** Calls that would pass at this moment. */
  readonly remaining: number;
  /** Whole seconds until one more call passes, or where some do, until all of the burst would. */
  readonly resetS: number;
}

/** A call that is not ended by its process is counted as open this long. */
const LEASE_MS = 120_000;

/** Limits of accounts and keys, exact over all instances: the state is in the database. */
export class Limiter {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Admits a call, which is open until `end`; or refuses it, which uses nothing up. */
  async admit(admission: Admission): Promise<Verdict> {
    const { limits, keyPerSecond, now } = admission;
    const found = await this.#database.pool.query<{
      refused: Refusal | null;
      wait_ms: number | null;
      remaining: number;
      full_ms: number;
    }>({
      name: "limits-admit",
      text: "select * from admit_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
      values: [
        admission.requestId,
        admission.accountId,
        admission.keyId,
        now.getTime(),
        1000 / limits.perSecond,
        limits.burst,
        keyPerSecond === null ? null : 1000 / keyPerSecond,
        keyPerSecond === null ? null : Math.max(1, Math.floor(keyPerSecond)),
        limits.concurrent,
        limits.perDay,
        admission.day,
        LEASE_MS,
      ],
    });
    const row = found.rows[0]!;
    const waitMs = row.refused === "daily_limit" ? untilMidnightMs(now) : (row.wait_ms ?? 0);
    const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000 - 1e-9));
    const oneMoreS = row.refused ? retryAfterS : Math.ceil(1 / limits.perSecond);
    const resetS = row.remaining === 0 ? oneMoreS : Math.max(0, Math.ceil(row.full_ms / 1000 - 1e-9));
    return { refused: row.refused, retryAfterS, remaining: row.remaining, resetS };
  }

  /** The call is over, however it went. */
  async end(requestId: string): Promise<void> {
    await this.#database.pool.query({
      name: "limits-end",
      text: "delete from open_call where request_id = $1",
      values: [requestId],
    });
  }

  /**
   * Counts a call with a wrong key from an address: 20 a minute. Returns the whole seconds to wait when that is
   * used up; calls with good keys are never counted and never refused.
   */
  async countFailedKey(address: string, now: Date): Promise<number | undefined> {
    const intervalMs = 3_000;
    const burst = 20;
    const id = `ip:${address}`;
    const passed = await this.#database.pool.query(
      `insert into rate as r (id, tat) values ($1, $2::float8 + $3) on conflict (id) do update
         set tat = greatest(r.tat, $2) + $3 where greatest(r.tat, $2) + $3 - $2 <= $3 * $4::int returning 1`,
      [id, now.getTime(), intervalMs, burst],
    );
    if (passed.rowCount === 1) return undefined;
    const found = await this.#database.pool.query<{ tat: number }>("select tat from rate where id = $1", [
      id,
    ]);
    const tat = found.rows[0]?.tat ?? now.getTime();
    return Math.max(1, Math.ceil((tat + intervalMs - burst * intervalMs - now.getTime()) / 1000));
  }

  /** Forgets full buckets of yesterday and calls whose process is gone. */
  async sweep(now: Date): Promise<void> {
    await this.#database.pool.query("delete from rate where tat < $1", [now.getTime() - 86_400_000]);
    await this.#database.pool.query("delete from open_call where until < $1", [now.getTime()]);
  }
}

/** The headers of a limit: the policy, and where this account stands in it. */
export function limitHeaders(limits: Limits, verdict: Verdict): Record<string, string> {
  const { remaining, resetS } = verdict;
  const perMinute = limits.perSecond * 60;
  return {
    "ratelimit-policy": `"account";q=${perMinute};w=60,"burst";q=${limits.burst};w=1`,
    ratelimit: `"account";r=${remaining};t=${resetS}`,
    "x-ratelimit-limit": String(limits.burst),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(resetS),
  };
}

function untilMidnightMs(now: Date): number {
  const DAY_MS = 86_400_000;
  const inChina = now.getTime() + 8 * 3_600_000;
  return DAY_MS - (inChina % DAY_MS);
}
