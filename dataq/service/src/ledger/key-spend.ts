import { Failure } from "@dataq/contract";
import type { PoolClient } from "pg";

/** What a key may spend in a month, `YYYY-MM` in China's time. */
export interface KeyCap {
  /** The key that it is counted for: of those that took each other's place, the first. */
  readonly keyId: string;
  readonly tokens: number;
  readonly month: string;
}

/** Part of the transaction that holds. Throws `spend_limit_reached` when the month's cap does not allow it. */
export async function spend(client: PoolClient, tokens: number, cap: KeyCap): Promise<void> {
  const spent = await client.query(
    `insert into key_spend as s (key_id, month, tokens) select $1, $2, $3 where $3 <= $4::bigint
     on conflict (key_id, month) do update set tokens = s.tokens + $3 where s.tokens + $3 <= $4 returning 1`,
    [cap.keyId, cap.month, tokens, cap.tokens],
  );
  if (spent.rowCount === 0) throw new Failure("spend_limit_reached", { cap: cap.tokens, month: cap.month });
}
