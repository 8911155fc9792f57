import { Failure } from "@dataq/contract";
import type { Database } from "../database/database.ts";
import type { Balance } from "./balance.ts";
import { ownNotes } from "./own-notes.ts";

/** Who moves tokens outside of calls, and why. Every entry carries both. */
export interface Reason {
  readonly actor: string;
  readonly note: string;
  readonly now: Date;
}

/** Opens the wallet of a new account. */
export async function openWallet(database: Database, accountId: string, now: Date): Promise<void> {
  await database.pool.query("insert into wallet (account_id, touched_at) values ($1, $2)", [accountId, now]);
}

/** The trial, once an account. Returns false when it was granted before. */
export async function grantTrial(
  database: Database,
  accountId: string,
  trial: { readonly tokens: number; readonly expiresAt: Date },
  reason: Reason,
): Promise<boolean> {
  return moveOnce(
    database,
    accountId,
    `trial:${accountId}`,
    `update wallet set trial = trial + $2, part_trial = $2, part_paid = 0, part_credit = 0, trial_expires_at = $6,`,
    "grant",
    "promotions",
    trial.tokens,
    reason,
    trial.expiresAt,
  );
}

/**
 * Paid tokens. What the account has drawn from its credit line is filled up first. `reference` is the payment's or
 * the voucher's own: the same one is credited once, whoever delivers it and however often. Returns false the
 * second time.
 */
export async function topUp(
  database: Database,
  accountId: string,
  tokens: number,
  reference: string,
  reason: Reason,
): Promise<boolean> {
  return moveOnce(
    database,
    accountId,
    reference,
    `update wallet set part_trial = 0,
       part_credit = least($2, ${DRAWN}), part_paid = $2 - least($2, ${DRAWN}),
       credit = credit + least($2, ${DRAWN}), paid = paid + $2 - least($2, ${DRAWN}),`,
    "topup",
    "payments",
    tokens,
    reason,
  );
}

/** A correction by hand, up or down. Down takes paid before trial. Throws `insufficient_balance` rather than go below 0. */
export async function adjust(
  database: Database,
  accountId: string,
  tokens: number,
  reason: Reason,
): Promise<Balance> {
  const moved = await move(
    database,
    tokens >= 0 ? "adjust-up" : "adjust-down",
    tokens >= 0
      ? `update wallet set part_trial = 0, part_paid = $2, part_credit = 0, paid = paid + $2,`
      : `update wallet set part_credit = 0,
           part_paid = -least(paid, -$2), part_trial = -(-$2 - least(paid, -$2)),
           paid = paid - least(paid, -$2), trial = trial - (-$2 - least(paid, -$2)),`,
    "and trial + paid >= -$2",
    "adjust",
    "adjustments",
    [accountId, tokens, reason.now, reason.actor, reason.note],
  );
  if (moved) return moved;
  const balance = await readSpendable(database, accountId);
  throw new Failure("insufficient_balance", { required: -tokens, balance, shortfall: -tokens - balance });
}

/** Sets the credit line. It cannot be lowered below what is drawn or held at the moment: then it becomes that. */
export async function setCreditLimit(
  database: Database,
  accountId: string,
  limit: number,
  reason: Reason,
): Promise<Balance> {
  const moved = await move(
    database,
    "credit-line",
    `update wallet set part_trial = 0, part_paid = 0,
       part_credit = greatest($2 - credit_limit, -credit),
       credit = credit + greatest($2 - credit_limit, -credit),
       credit_limit = credit_limit + greatest($2 - credit_limit, -credit),`,
    "",
    "adjust",
    "credit_line",
    [accountId, limit, reason.now, reason.actor, reason.note],
  );
  if (!moved) throw new Failure("not_found", { what: `The account ${accountId}` });
  return moved;
}

/** Books an expired trial's rest away. Harmless when there is nothing to expire. */
export async function expireTrial(database: Database, accountId: string, now: Date): Promise<void> {
  await move(
    database,
    "expire",
    `update wallet set part_trial = -trial, part_paid = 0, part_credit = 0, trial = 0,`,
    "and trial > 0 and trial_expires_at <= $3 and $2 = 0",
    "expire",
    "breakage",
    [accountId, 0, now, "system", ownNotes.trialOver],
  );
}

/** Books away the rests of all trials whose time is over. */
export async function expireTrials(database: Database, now: Date): Promise<void> {
  const over = await database.pool.query<{ account_id: string }>(
    "select account_id from wallet where trial > 0 and trial_expires_at <= $1",
    [now],
  );
  for (const { account_id } of over.rows) await expireTrial(database, account_id, now);
}

/**
 * Undoes a capture in full or in part, as a new entry that names the request. At most once a request, at most what
 * was captured. Returns undefined when there is nothing (more) to undo.
 */
export async function reverse(
  database: Database,
  requestId: string,
  tokens: number,
  reason: Reason,
): Promise<Balance | undefined> {
  const found = await database.pool.query<{ balance: number; trial: number }>({
    name: "ledger-reverse",
    text: `with captured as (
       select account_id, operation, key_id, price_version, earnings from entry
       where request_id = $1 and kind = 'capture' and earnings >= $2::bigint and $2 > 0
         and not exists (select from entry where request_id = $1 and kind = 'reverse')
     ), moved as (
       update wallet w set paid = w.paid + $2, seq = w.seq + 1, touched_at = greatest(w.touched_at, $3::timestamptz)
       from captured where w.account_id = captured.account_id returning w.*
     ), written as (
       insert into entry (account_id, seq, at, kind, request_id, operation, key_id, price_version,
                          paid, earnings, balance_after, actor, note)
       select m.account_id, m.seq, m.touched_at, 'reverse', $1, c.operation, c.key_id, c.price_version,
              $2, -$2::bigint, m.trial + m.paid + m.credit, $4, $5 from moved m, captured c
     ) select trial + paid + credit as balance, trial from moved`,
    values: [requestId, tokens, reason.now, reason.actor, reason.note],
  });
  const row = found.rows[0];
  return row && { balance: row.balance, trialBalance: row.trial };
}

/** Drawn or held; a hold that is given back after the line is full again goes to paid. */
const DRAWN = "(credit_limit - credit)";

async function move(
  database: Database,
  name: string,
  update: string,
  condition: string,
  kind: string,
  contra: string,
  values: unknown[],
): Promise<Balance | undefined> {
  const found = await database.pool.query<{ balance: number; trial: number }>({
    name: `ledger-${name}`,
    text: statement(update, condition, kind, contra, "null"),
    values,
  });
  const row = found.rows[0];
  return row && { balance: row.balance, trialBalance: row.trial };
}

/**
 * A second delivery of the same reference finds its entry. Of two at the same moment one fails on the unique index,
 * and its whole statement with it; that costs the pool a connection, so it is not left to every second delivery.
 */
async function moveOnce(
  database: Database,
  accountId: string,
  reference: string,
  update: string,
  kind: string,
  contra: string,
  tokens: number,
  reason: Reason,
  expiresAt?: Date,
): Promise<boolean> {
  const values: unknown[] = [accountId, tokens, reason.now, reason.actor, reason.note];
  if (expiresAt) values.push(expiresAt);
  values.push(reference);
  try {
    const known = `$${values.length}`;
    const isNew = `and not exists (select from entry where kind = '${kind}' and reference = ${known})`;
    const text = statement(update, isNew, kind, contra, known);
    const moved = await database.pool.query({ name: `ledger-${kind}`, text, values });
    if (moved.rowCount === 1) return true;
    const found = await database.pool.query("select from wallet where account_id = $1", [accountId]);
    if (found.rowCount === 0) throw new Failure("not_found", { what: `The account ${accountId}` });
    return false;
  } catch (error) {
    const { code, constraint } = error as { code?: string; constraint?: string };
    if (code === "23505" && constraint === "entry_once_a_reference") return false;
    throw error;
  }
}

function statement(
  update: string,
  condition: string,
  kind: string,
  contra: string,
  reference: string,
): string {
  return `
with input as (select $2::bigint, $3::timestamptz),
moved as (
  ${update} seq = seq + 1, touched_at = greatest(touched_at, $3) where account_id = $1 ${condition} returning *
), written as (
  insert into entry (account_id, seq, at, kind, trial, paid, credit, ${contra}, balance_after, actor, note, reference)
  select $1, seq, touched_at, '${kind}', part_trial, part_paid, part_credit,
         -(part_trial + part_paid + part_credit), trial + paid + credit, $4, $5, ${reference} from moved
)
select trial + paid + credit as balance, trial from moved`;
}

async function readSpendable(database: Database, accountId: string): Promise<number> {
  const found = await database.pool.query<{ balance: number }>(
    "select trial + paid as balance from wallet where account_id = $1",
    [accountId],
  );
  if (!found.rows[0]) throw new Failure("not_found", { what: `The account ${accountId}` });
  return found.rows[0].balance;
}
