import { Failure } from "@dataq/contract";
import type { PoolClient } from "pg";

/** The limit of a key for a month, `YYYY-MM` in China time. */
export interface KeyCap {
  /** The key whose cap it counts towards: a key shares the cap of the one it replaces. */
  readonly keyId: string;
  readonly tokens: number;
  readonly month: string;
}

/** Counts tokens towards a cap, in the transaction of the hold. Throws `spend_limit_reached` beyond the cap. */
export async function spend(client: PoolClient, tokens: number, cap: KeyCap): Promise<void> {
  const spent = await client.query(
    `insert into key_spend as s (key_id, month, tokens) select $1, $2, $3 where $3 <= $4::bigint
     on conflict (key_id, month) do update set tokens = s.tokens + $3 where s.tokens + $3 <= $4 returning 1`,
    [cap.keyId, cap.month, tokens, cap.tokens],
  );
  if (spent.rowCount === 0) throw new Failure("spend_limit_reached", { cap: cap.tokens, month: cap.month });
}
