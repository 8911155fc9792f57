import type { Database } from "../database/database.ts";
import { tryLockTransaction } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";
import { chainNext, chainStart, readEntries } from "./entry.ts";

/**
 * Seals what was committed since the last time: for each account the hash of its chain up to its newest entry. It never
 * runs inside a transaction that moves tokens. Looks at all wallets, or only at those with entries from `since` on; see
 * `RecentEntries`. Returns the number of accounts with a new seal; undefined if another process is sealing.
 */
export async function sealEntries(database: Database, now: Date, since?: Date): Promise<number | undefined> {
  return inTransaction(database, async (transaction) => {
    if (!(await tryLockTransaction(transaction, "ledgerSeal"))) return undefined;
    const open = await transaction.query<{ account_id: string; from: number; sha256: Buffer | null }>(
      `select w.account_id, coalesce(s.seq, 0) as from, s.sha256 from wallet w
       left join lateral (select seq, sha256 from seal where account_id = w.account_id order by seq desc limit 1) s on true
       where w.seq > coalesce(s.seq, 0) ${since ? "and w.account_id in (select account_id from entry where at >= $1)" : ""}`,
      since && [since],
    );
    for (const { account_id, from, sha256 } of open.rows) {
      let seq = from;
      let hash = sha256 ?? chainStart(account_id);
      for await (const entry of readEntries(transaction, account_id, from)) {
        hash = chainNext(hash, entry);
        seq = entry.seq;
      }
      await transaction.query(
        "insert into seal (account_id, seq, sha256, sealed_at) values ($1, $2, $3, $4) on conflict do nothing",
        [account_id, seq, hash, now],
      );
    }
    return open.rows.length;
  });
}
