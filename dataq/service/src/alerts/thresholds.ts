import type { AlertThresholds } from "@dataq/contract/wire";
import type { Queries } from "../database/database.ts";

/** What an account is warned of; defaults are those of the tables. */
export async function readThresholds(queries: Queries, accountId: string): Promise<AlertThresholds> {
  const found = await queries.query<AlertThresholds>(
    `select w.low_balance, coalesce(t.cap_percent, ${defaults.capPercent}) as cap_percent,
            coalesce(t.spend_factor, ${defaults.spendFactor}) as spend_factor
     from wallet w left join alert_threshold t using (account_id) where w.account_id = $1`,
    [accountId],
  );
  return found.rows[0]!;
}

export const defaults = { capPercent: 80, spendFactor: 3 } as const;

/** Changes the fields that are given. */
export async function setThresholds(
  queries: Queries,
  accountId: string,
  change: Partial<AlertThresholds>,
): Promise<void> {
  if (change.low_balance !== undefined)
    await queries.query("update wallet set low_balance = $2 where account_id = $1", [
      accountId,
      change.low_balance,
    ]);
  await queries.query(
    `insert into alert_threshold (account_id, cap_percent, spend_factor) values ($1, $2, $3)
     on conflict (account_id) do update set cap_percent = coalesce(excluded.cap_percent, alert_threshold.cap_percent),
       spend_factor = coalesce(excluded.spend_factor, alert_threshold.spend_factor)`,
    [accountId, change.cap_percent ?? null, change.spend_factor ?? null],
  );
}
