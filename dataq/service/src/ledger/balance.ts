import type { Database } from "../database/database.ts";
import type { Entry } from "./entry.ts";

/** The wallet after a movement. */
export interface Balance {
  /** What the account can spend: trial, paid and the rest of the credit line, after open holds. */
  readonly balance: number;
  readonly trialBalance: number;
}

/** A wallet row as the ledger statements return it. */
export interface WalletRow {
  balance: number;
  trial: number;
}

export function toBalance(row: WalletRow): Balance {
  return { balance: row.balance, trialBalance: row.trial };
}

/** The current wallet of a request's account; undefined if the request has no entry of this kind. */
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
