import { Failure, invalid } from "@dataq/contract";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Queries } from "../database/database.ts";
import type { Transaction } from "../database/transaction.ts";
import { adjust, setCreditLimit } from "../ledger/movement.ts";
import { ownNotes } from "../ledger/own-notes.ts";
import { readWallet, setFrozen } from "../ledger/wallet.ts";
import { holdings } from "./holdings.ts";

export interface Closing {
  /** The name of the account, so that nobody closes one by mistake. */
  readonly confirm: string;
  /** The paid tokens that are given up; must be what is left of them. */
  readonly giveUpTokens: number;
}

/** Network logs of closed accounts are deleted after half a year. */
const KEEP_REQUESTS_DAYS = 184;

/**
 * Closes an account: what no law has us keep is deleted, the rest stays without names. Tokens that are left leave by an
 * entry of the ledger. Throws `account_busy` while
 * money is open, and `invalid_params` if `confirm` or `giveUpTokens` do not fit.
 */
export async function closeAccount(
  transaction: Transaction,
  accountId: string,
  { confirm, giveUpTokens }: Closing,
  author: Author,
): Promise<void> {
  const found = await transaction.query<{ name: string; role: string }>(
    "select name, role from account where id = $1 for update",
    [accountId],
  );
  const { name, role } = found.rows[0]!;
  if (role === "admin") throw new Failure("account_busy");
  if (confirm !== name)
    throw invalid(
      "confirm",
      "value",
      `confirm must be the account's name, ${name}`,
      `send ${name}`,
      `请填写 ${name}`,
    );
  // The row stays locked, so that nothing is spent or paid meanwhile.
  await transaction.query("select from wallet where account_id = $1 for update", [accountId]);
  const wallet = (await readWallet(transaction, accountId, author.now))!;
  await assertSettled(transaction, accountId, wallet, author.now);
  if (wallet.paidBalance !== giveUpTokens)
    throw invalid(
      "give_up_tokens",
      "value",
      `give_up_tokens must be the paid tokens that are left, ${wallet.paidBalance}`,
      `ask the operator for a refund first, or send ${wallet.paidBalance} to give them up`,
      `请先联系运营方退款；放弃余额请填写 ${wallet.paidBalance}`,
    );
  const reason = { actor: author.actor, note: ownNotes.closed, now: author.now };
  if (wallet.creditLimit > 0) await setCreditLimit(transaction, accountId, 0, reason);
  const left = wallet.paidBalance + wallet.trialBalance;
  if (left > 0) await adjust(transaction, accountId, -left, reason);
  await setFrozen(transaction, accountId, true);
  await transaction.query(
    `update api_key set revoked_at = coalesce(revoked_at, $2), revoked_reason = coalesce(revoked_reason, 'revoked'),
       name = '', ip_list = '{}' where account_id = $1`,
    [accountId, author.now],
  );
  await leavePeople(transaction, accountId);
  for (const [table, { by, atClosing }] of Object.entries(holdings))
    if (atClosing === "delete") await transaction.query(`delete from ${table} where ${by} = $1`, [accountId]);
  await transaction.query("update account set name = 'closed', email = null, closed_at = $2 where id = $1", [
    accountId,
    author.now,
  ]);
  await writeAudit(transaction, author, "account.close", accountId, null, { given_up: giveUpTokens });
}

async function assertSettled(
  queries: Queries,
  accountId: string,
  wallet: { readonly held: number; readonly creditLimit: number; readonly creditBalance: number },
  now: Date,
): Promise<void> {
  const open = await queries.query(
    `select from payment p where account_id = $1 and (state = 'open' and expires_at > $2
       or exists (select from payment_return r where r.payment_id = p.id and r.state = 'pending')) limit 1`,
    [accountId, now],
  );
  const owes = wallet.creditBalance < wallet.creditLimit;
  if (wallet.held > 0 || owes || open.rowCount !== 0) throw new Failure("account_busy");
}

/** Members act for another of their accounts; those without one are deleted, with their sessions. */
async function leavePeople(transaction: Transaction, accountId: string): Promise<void> {
  await transaction.query(
    `update people."user" u set "accountId" =
       (select account_id from people.member m where m.user_id = u."id" and m.account_id <> $1 order by created_at limit 1)
     where "accountId" = $1`,
    [accountId],
  );
  await transaction.query(
    `delete from people."user" u where exists (select from people.member m where m.user_id = u."id" and m.account_id = $1)
       and not exists (select from people.member m where m.user_id = u."id" and m.account_id <> $1)`,
    [accountId],
  );
}

/** Deletes the request log of accounts that were closed long enough ago. */
export async function sweepClosed(queries: Queries, now: Date): Promise<void> {
  await queries.query(
    `delete from request where account_id in
       (select id from account where closed_at < $1::timestamptz - $2 * interval '1 day')`,
    [now, KEEP_REQUESTS_DAYS],
  );
}
