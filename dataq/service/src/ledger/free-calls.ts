import type { Database } from "../database/database.ts";

/** An account's calls of an operation on a day of China's calendar, as YYYY-MM-DD. */
export interface FreeDay {
  readonly accountId: string;
  readonly operation: string;
  readonly day: string;
}

/** How many of the free calls of a day are left of `limit`. */
export async function freeCallsLeft(
  { pool }: Pick<Database, "pool">,
  { accountId, operation, day }: FreeDay,
  limit: number,
): Promise<number> {
  const found = await pool.query<{ calls: number }>({
    name: "free-calls-left",
    text: "select calls from free_use where account_id = $1 and operation = $2 and day = $3",
    values: [accountId, operation, day],
  });
  return Math.max(0, limit - (found.rows[0]?.calls ?? 0));
}

/** Takes one of the free calls of a day. Returns false if none is left. */
export async function takeFreeCall(
  { pool }: Pick<Database, "pool">,
  { accountId, operation, day }: FreeDay,
  limit: number,
): Promise<boolean> {
  if (limit <= 0) return false;
  const taken = await pool.query(
    `insert into free_use as f (account_id, operation, day, calls) values ($1, $2, $3, 1)
     on conflict (account_id, operation, day) do update set calls = f.calls + 1 where f.calls < $4`,
    [accountId, operation, day, limit],
  );
  return taken.rowCount === 1;
}

/** Gives a free call back that was not answered, or would have cost nothing. */
export async function returnFreeCall(
  { pool }: Pick<Database, "pool">,
  { accountId, operation, day }: FreeDay,
): Promise<void> {
  await pool.query(
    "update free_use set calls = calls - 1 where account_id = $1 and operation = $2 and day = $3 and calls > 0",
    [accountId, operation, day],
  );
}
