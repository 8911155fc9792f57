import type { Database } from "../database/database.ts";
import type { Entry } from "./entry.ts";

/** The wallet after a movement. */
export interface Balance {
  /** What can be spent: trial, paid and what is left of the credit line, after open holds. */
  readonly balance: number;
  readonly trialBalance: number;
}

/** As the statements of the ledger give it back. */
export interface WalletRow {
  balance: number;
  trial: number;
}

export function toBalance(row: WalletRow): Balance {
  return { balance: row.balance, trialBalance: row.trial };
}

/** The wallet as it is now, where the request has such an entry. */
export async function readAfter(
  database: Database,
  requestId: string,
  kind: Entry["kind"],
): Promise<WalletRow | undefined> {
  const found = await database.pool.query<WalletRow>(
    `select w.trial + w.paid + w.credit as balance, w.trial from entry join wallet w using (account_id)
     where request_id = $1 and kind = $2`,
    [requestId, kind],
  );
  return found.rows[0];
}
