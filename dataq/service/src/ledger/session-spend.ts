import { Failure } from "@dataq/contract";
import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";

/** What the calls of a session may spend together. */
export interface SessionBudget {
  /** The name of the session within its account. */
  readonly session: string;
  readonly tokens: number;
}

/** A session ends this long after its last call. */
export const sessionLifeMs = 86_400_000;
/** Sessions with a budget that an account may have at the same time. */
export const mostSessions = 10_000;

interface Spending {
  readonly accountId: string;
  readonly tokens: number;
  readonly now: Date;
}

/**
 * Counts tokens towards the budget of a session, in the transaction of the hold. Throws `budget_exceeded` beyond the
 * budget, and `too_many_sessions` for a new session of an account that has too many.
 */
export async function spendOfSession(
  client: PoolClient,
  { accountId, tokens, now }: Spending,
  budget: SessionBudget,
): Promise<void> {
  const oldest = new Date(now.getTime() - sessionLifeMs);
  const counted = await client.query(
    `update session_spend set used_at = $5,
       tokens = case when used_at < $6 then 0 else tokens end + $3::bigint
     where account_id = $1 and session = $2
       and case when used_at < $6 then 0 else tokens end + $3 <= $4::bigint`,
    [accountId, budget.session, tokens, budget.tokens, now, oldest],
  );
  if (counted.rowCount === 1) return;
  // Calls of an account are serialised by its wallet, which this transaction has locked.
  const added = await client.query(
    `insert into session_spend (account_id, session, tokens, used_at)
     select $1, $2, $3::bigint, $5 where $3 <= $4::bigint
       and (select count(*) from session_spend where account_id = $1 and used_at >= $6) < ${mostSessions}
     on conflict do nothing`,
    [accountId, budget.session, tokens, budget.tokens, now, oldest],
  );
  if (added.rowCount === 1) return;
  const spent = await readSpent(client, accountId, budget.session, now);
  if (spent + tokens <= budget.tokens) throw new Failure("too_many_sessions", { limit: mostSessions });
  const left = Math.max(0, budget.tokens - spent);
  throw new Failure("budget_exceeded", { required: tokens, budget: budget.tokens, left });
}

/** What is left of the budget, after open holds. */
export async function readBudgetLeft(
  database: Database,
  accountId: string,
  budget: SessionBudget,
  now: Date,
): Promise<number> {
  const spent = await readSpent(database.pool, accountId, budget.session, now);
  return Math.max(0, budget.tokens - spent);
}

/** Deletes sessions that have ended. */
export async function sweepSessions(database: Database, now: Date): Promise<void> {
  await database.pool.query("delete from session_spend where used_at < $1", [
    new Date(now.getTime() - sessionLifeMs),
  ]);
}

async function readSpent(
  queries: Pick<PoolClient, "query">,
  accountId: string,
  session: string,
  now: Date,
): Promise<number> {
  const found = await queries.query<{ tokens: number }>(
    "select tokens from session_spend where account_id = $1 and session = $2 and used_at >= $3",
    [accountId, session, new Date(now.getTime() - sessionLifeMs)],
  );
  return found.rows[0]?.tokens ?? 0;
}
