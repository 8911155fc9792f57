import { untilChinaMidnightMs } from "@dataq/contract";
import type { Database } from "../database/database.ts";
import type { Limits, Rate } from "./tier.ts";

/** A call that asks for admission. */
export interface Admission {
  readonly requestId: string;
  readonly accountId: string;
  /** The key whose limit the call counts towards. */
  readonly keyId: string;
  readonly limits: Limits;
  /** The key's own, lower limit: calls per second, and the same number at once. */
  readonly keyPerSecond: number | null;
  readonly now: Date;
  /** The date in China, YYYY-MM-DD. */
  readonly day: string;
  /** The number of calls that it counts as; 1 by default. */
  readonly cost?: number;
}

export type Refusal = "rate_limited" | "concurrency_limited" | "daily_limit";

/** Whether a call was admitted, and what the headers say. */
export interface Verdict {
  readonly refused: Refusal | null;
  /** Whole seconds after which the same call passes if the account makes no other; at least 1. */
  readonly retryAfterS: number;
  /** Calls that would pass now. */
  readonly remaining: number;
  /** Whole seconds until one more call passes; if some pass now, until the whole burst does. */
  readonly resetS: number;
}

/** A call whose process died counts as open for this long. */
const LEASE_MS = 120_000;
/** Clocks of services differ by less. */
const FAR_AHEAD_MS = 60_000;

/** Limits of accounts and keys. Their state is in the database, so they are exact over all instances. */
export class Limiter {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Admits a call, which then counts as open until `end`; or refuses it, which costs nothing. */
  async admit(admission: Admission): Promise<Verdict> {
    const { limits, keyPerSecond, now } = admission;
    const found = await this.#database.pool.query<{
      refused: Refusal | null;
      wait_ms: number | null;
      remaining: number;
      full_ms: number;
    }>({
      name: "limits-admit",
      text: "select * from admit_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
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
        admission.cost ?? 1,
      ],
    });
    const row = found.rows[0]!;
    const waitMs = row.refused === "daily_limit" ? untilChinaMidnightMs(now) : (row.wait_ms ?? 0);
    const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000 - 1e-9));
    const oneMoreS = row.refused ? retryAfterS : Math.ceil(1 / limits.perSecond);
    const resetS = row.remaining === 0 ? oneMoreS : Math.max(0, Math.ceil(row.full_ms / 1000 - 1e-9));
    return { refused: row.refused, retryAfterS, remaining: row.remaining, resetS };
  }

  /** Ends a call, whatever its outcome. */
  async end(requestId: string): Promise<void> {
    await this.#database.pool.query({
      name: "limits-end",
      text: "delete from open_call where request_id = $1",
      values: [requestId],
    });
  }

  /**
   * Takes `cost` from a bucket that fills at a rate. Returns undefined if it succeeded; otherwise takes nothing and
   * returns the number of seconds to wait. A cost above the burst counts as the burst. What a clock that was once far
   * ahead has taken is forgotten, as in `admit_call`.
   */
  async take(bucket: string, cost: number, rate: Rate, now: Date): Promise<number | undefined> {
    const intervalMs = 1000 / rate.perSecond;
    const takenMs = Math.min(cost, rate.burst) * intervalMs;
    const fullMs = rate.burst * intervalMs;
    const taken = await this.#database.pool.query({
      name: "limits-take",
      text: `insert into rate as r (id, tat) values ($1, $2::float8 + $3) on conflict (id) do update
               set tat = case when r.tat > $2 + $4::float8 + $5 then $2 else greatest(r.tat, $2) end + $3
               where r.tat > $2 + $4::float8 + $5 or greatest(r.tat, $2) + $3 - $2 <= $4::float8 + 1e-6 returning 1`,
      values: [bucket, now.getTime(), takenMs, fullMs, FAR_AHEAD_MS],
    });
    if (taken.rowCount === 1) return undefined;
    const found = await this.#database.pool.query<{ tat: number }>("select tat from rate where id = $1", [
      bucket,
    ]);
    const tat = found.rows[0]?.tat ?? now.getTime();
    return Math.max(1, Math.ceil((tat + takenMs - fullMs - now.getTime()) / 1000));
  }

  /** Deletes buckets that have been full for a day, and calls of dead processes. */
  async sweep(now: Date): Promise<void> {
    await this.#database.pool.query("delete from rate where tat < $1", [now.getTime() - 86_400_000]);
    await this.#database.pool.query("delete from open_call where until < $1", [now.getTime()]);
  }
}

/** The rate-limit headers: the policy, and the state of this account. */
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
