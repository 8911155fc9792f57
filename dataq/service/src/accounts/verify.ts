import type { Database } from "../database/database.ts";
import { type Finding, type LedgerVerdict, verifyLedger } from "../ledger/verify.ts";
import { verifyAudit, verifyKept } from "./audit-chain.ts";

/**
 * Checks the ledger, the accounts and the audit log, and compares the log with `keptSeals`, which were stored
 * elsewhere. `scope` says how much of the ledger and of the log is checked; see `verifyLedger` and `verifyAudit`.
 */
export async function verifyBooks(
  database: Database,
  keptSeals: readonly string[] = [],
  scope: "whole" | "new" = "whole",
  now = new Date(),
): Promise<LedgerVerdict> {
  const { findings, covers } = await verifyLedger(database, scope, now);
  const others = [await verifyWallets(database), await verifyAudit(database, scope)];
  if (keptSeals.length > 0) others.push(await verifyKept(database, keptSeals));
  return { findings: [...findings, ...others], covers };
}

async function verifyWallets(database: Database): Promise<Finding> {
  const found = await database.longReads.query<{ breach: string }>(
    `select coalesce('the account ' || a.id || ' has no wallet', 'the wallet ' || w.account_id || ' has no account')
       as breach
     from account a full join wallet w on w.account_id = a.id
     where a.id is null or w.account_id is null limit 5`,
  );
  return {
    law: "L15",
    text: "every account has a wallet, and every wallet an account",
    text_zh: "每个账户都有钱包，每个钱包都有账户",
    breaches: found.rows.map(({ breach }) => breach),
  };
}
