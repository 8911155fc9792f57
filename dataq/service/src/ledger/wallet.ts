import type { Queries } from "../database/database.ts";
import { expireTrial } from "./movement.ts";

/** `balance` is what the account can spend: it includes trial and credit line, and excludes open holds. */
export interface Wallet {
  readonly balance: number;
  readonly trialBalance: number;
  readonly paidBalance: number;
  readonly creditBalance: number;
  readonly creditLimit: number;
  readonly held: number;
  readonly trialExpiresAt: Date | null;
  readonly frozen: boolean;
}

export async function readWallet(
  queries: Queries,
  accountId: string,
  now: Date,
): Promise<Wallet | undefined> {
  const read = async () =>
    (
      await queries.query<Wallet>(
        `select trial + paid + credit as balance, trial as "trialBalance", paid as "paidBalance",
                credit as "creditBalance", credit_limit as "creditLimit", held,
                trial_expires_at as "trialExpiresAt", frozen
         from wallet where account_id = $1`,
        [accountId],
      )
    ).rows[0];
  const wallet = await read();
  const isOver = wallet?.trialExpiresAt && wallet.trialBalance > 0 && wallet.trialExpiresAt <= now;
  if (!isOver) return wallet;
  await expireTrial(queries, accountId, now);
  return read();
}

/** Stops or allows spending. Open calls still end normally. */
export async function setFrozen(queries: Queries, accountId: string, frozen: boolean): Promise<boolean> {
  const changed = await queries.query("update wallet set frozen = $2 where account_id = $1", [
    accountId,
    frozen,
  ]);
  return changed.rowCount === 1;
}
