import { Failure } from "@dataq/contract";
import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";

/** What a key may spend in a month, `YYYY-MM` in China's time. */
export interface KeyCap {
  readonly tokens: number;
  readonly month: string;
}

/** Part of the transaction that holds. Throws `spend_limit_reached` when the month's cap does not allow it. */
export async function spend(client: PoolClient, keyId: string, tokens: number, cap: KeyCap): Promise<void> {
  const spent = await client.query(
    `insert into key_spend as s (key_id, month, tokens) select $1, $2, $3 where $3 <= $4::bigint
     on conflict (key_id, month) do update set tokens = s.tokens + $3 where s.tokens + $3 <= $4 returning 1`,
    [keyId, cap.month, tokens, cap.tokens],
  );
  if (spent.rowCount === 0) throw new Failure("spend_limit_reached", { cap: cap.tokens, month: cap.month });
}

/** A key that takes another's place has spent what that one had. */
export async function carrySpend(database: Database, from: string, to: string): Promise<void> {
  await database.pool.query(
    "insert into key_spend (key_id, month, tokens) select $2, month, tokens from key_spend where key_id = $1",
    [from, to],
  );
}
