import type { Database, Queries } from "../database/database.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";

/** An account whose balance fell below its mark (`PATCH /v1/alerts`). */
interface LowBalance {
  readonly accountId: string;
  readonly balance: number;
  readonly mark: number;
}

/**
 * Takes the accounts that are to be told by email that their balance is low: those that spent since `since`, once until
 * tokens are added. Frozen accounts are not told to top up: they could not spend it. Two services that ask at once do not
 * take the same one.
 */
async function takeLowBalances(queries: Queries, since: Date, now: Date): Promise<LowBalance[]> {
  const found = await queries.query<LowBalance>(
    `with spent as (
       select distinct account_id from entry where at >= $1 and kind in ('hold', 'capture')
     ), low as (
       select w.account_id, w.trial + w.paid + w.credit as balance, w.low_balance as mark from wallet w join spent using (account_id)
       where w.trial + w.paid + w.credit < w.low_balance and not w.frozen
     ), told as (
       insert into alert (account_id, kind, told_at) select account_id, 'balance.low', $2 from low
       on conflict (account_id, kind) do update set told_at = excluded.told_at
         where exists (select from entry e where e.account_id = alert.account_id and e.at > alert.told_at
                         and e.kind in ('grant', 'topup', 'adjust'))
       returning account_id
     ) select account_id as "accountId", balance, mark from low join told using (account_id)`,
    [since, now],
  );
  return found.rows;
}

/** Tells who spends and has little left. `tell` writes to the owners in the same transaction. */
export async function tellLowBalances(
  database: Database,
  since: Date,
  now: Date,
  tell: (low: LowBalance, transaction: Transaction) => Promise<void>,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    for (const low of await takeLowBalances(transaction, since, now)) await tell(low, transaction);
  });
}
