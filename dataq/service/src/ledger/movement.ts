import { counted, Failure, invalid } from "@dataq/contract";
import type { Queries } from "../database/database.ts";
import type { Balance } from "./balance.ts";
import { ownNotes } from "./own-notes.ts";

/** Who moves tokens outside of calls, and why. Both are part of every entry. */
export interface Reason {
  readonly actor: string;
  readonly note: string;
  readonly now: Date;
}

/** Opens the wallet of a new account. */
export async function openWallet(queries: Queries, accountId: string, now: Date): Promise<void> {
  await queries.query("insert into wallet (account_id, touched_at) values ($1, $2)", [accountId, now]);
}

/** Grants the trial. Returns false if the account already had it. */
export async function grantTrial(
  queries: Queries,
  accountId: string,
  trial: { readonly tokens: number; readonly expiresAt: Date },
  reason: Reason,
): Promise<boolean> {
  return moveOnce(
    queries,
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
 * Grants tokens of a promotion, which are spent like those of a trial and expire like them: at `expiresAt`, or with what
 * is left of a trial that lasts longer. Returns false if `reference` was granted before.
 */
export async function grantPromotion(
  queries: Queries,
  accountId: string,
  reference: string,
  grant: { readonly tokens: number; readonly expiresAt: Date },
  reason: Reason,
): Promise<boolean> {
  // What has expired does not come back with the new end.
  await expireTrial(queries, accountId, reason.now);
  return moveOnce(
    queries,
    accountId,
    reference,
    `update wallet set trial = trial + $2, part_trial = $2, part_paid = 0, part_credit = 0,
       trial_expires_at = case when trial > 0 then greatest(trial_expires_at, $6) else $6 end,`,
    "grant",
    "promotions",
    grant.tokens,
    reason,
    grant.expiresAt,
    "promotion",
  );
}

/**
 * Adds paid tokens. They first repay what the account has used of its credit line. `reference` names the payment or the
 * voucher: the same reference is credited once. Returns false the second time.
 */
export async function topUp(
  queries: Queries,
  accountId: string,
  tokens: number,
  reference: string,
  reason: Reason,
): Promise<boolean> {
  return moveOnce(
    queries,
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

const adjustUp = {
  name: "adjust-up",
  change: "update wallet set part_trial = 0, part_paid = $2, part_credit = 0, paid = paid + $2,",
};
const adjustDown = {
  name: "adjust-down",
  change: `update wallet set part_credit = 0,
           part_paid = -least(paid, -$2), part_trial = -(-$2 - least(paid, -$2)),
           paid = paid - least(paid, -$2), trial = trial - (-$2 - least(paid, -$2)),`,
};

/**
 * Corrects the balance by hand, up or down. A negative correction takes paid tokens before trial tokens.
 * Throws `invalid_params` if the balance is too low.
 */
export async function adjust(
  queries: Queries,
  accountId: string,
  tokens: number,
  reason: Reason,
): Promise<Balance> {
  const { name, change } = tokens >= 0 ? adjustUp : adjustDown;
  const moved = await move(queries, name, change, "and trial + paid >= -$2", "adjust", "adjustments", [
    accountId,
    tokens,
    reason.now,
    reason.actor,
    reason.note,
  ]);
  if (moved) return moved;
  const balance = await readSpendable(queries, accountId);
  throw invalid(
    "tokens",
    "range",
    `tokens must not deduct more than the balance of ${balance}`,
    balance === 0 ? "send a positive number" : `send at least -${balance}`,
    balance === 0 ? "余额为 0，请发送正数" : `至少 -${balance}`,
  );
}

/** Sets the credit line, at least to what is used or held of it. */
export async function setCreditLimit(
  queries: Queries,
  accountId: string,
  limit: number,
  reason: Reason,
): Promise<Balance> {
  const moved = await move(
    queries,
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

/** Takes the rest of an expired trial from the wallet. Does nothing if no trial has expired. */
export async function expireTrial(queries: Queries, accountId: string, now: Date): Promise<void> {
  await move(
    queries,
    "expire",
    `update wallet set part_trial = -trial, part_paid = 0, part_credit = 0, trial = 0,`,
    "and trial > 0 and trial_expires_at <= $3 and $2 = 0",
    "expire",
    "breakage",
    [accountId, 0, now, "system", ownNotes.trialOver],
  );
}

/** Takes the rest of expired trials from all wallets. */
export async function expireTrials(queries: Queries, now: Date): Promise<void> {
  const over = await queries.query<{ account_id: string }>(
    "select account_id from wallet where trial > 0 and trial_expires_at <= $1",
    [now],
  );
  for (const { account_id } of over.rows) await expireTrial(queries, account_id, now);
}

/**
 * Refunds a capture in full or in part, once per request, as a new entry with the request's id. The tokens go back to
 * the part of the wallet that they came from, in the reverse order of spending: credit, then paid, then trial; trial
 * tokens never become paid ones. Throws `not_found` without such a capture or beyond its tokens, `already_exists` the
 * second time.
 */
export async function reverse(
  queries: Queries,
  requestId: string,
  tokens: number,
  reason: Reason,
): Promise<Balance> {
  const found = await queries
    .query<{ balance: number; trial: number }>({
      name: "ledger-reverse",
      text: REVERSE,
      values: [requestId, tokens, reason.now, reason.actor, reason.note],
    })
    .catch((error: unknown) => {
      const { code, constraint } = error as { code?: string; constraint?: string };
      if (code === "23505" && constraint?.startsWith("entry_once_a_")) throw refundedBefore(requestId);
      throw error;
    });
  const row = found.rows[0];
  if (row) return { balance: row.balance, trialBalance: row.trial };
  const before = await queries.query("select from entry where request_id = $1 and kind = 'reverse'", [
    requestId,
  ]);
  if (before.rowCount !== 0) throw refundedBefore(requestId);
  throw new Failure("not_found", {
    what: `A charge of at least ${counted(tokens, "token")} for the request ${requestId}`,
  });
}

function refundedBefore(requestId: string): Failure {
  return new Failure("already_exists", { what: `A refund of the request ${requestId}` });
}

/**
 * \`back_…\` is what the refund returns to each part. Credit beyond the present line goes to paid, as in a
 * settlement.
 */
const REVERSE = `
with spent as (
  select c.account_id, c.operation, c.key_id, c.price_version,
         -(h.trial + c.trial) as trial, -(h.paid + c.paid) as paid, -(h.credit + c.credit) as credit
  from entry c join entry h on h.request_id = c.request_id and h.kind = 'hold'
  where c.request_id = $1 and c.kind = 'capture' and c.earnings >= $2::bigint and $2 > 0
    and not exists (select from entry where request_id = $1 and kind = 'reverse')
), part as (
  select *, least(credit, $2) as back_credit, least(paid, $2 - least(credit, $2)) as back_paid,
         $2 - least(credit, $2) - least(paid, $2 - least(credit, $2)) as back_trial
  from spent
), moved as (
  update wallet w set part_trial = part.back_trial,
         part_credit = least(part.back_credit, w.credit_limit - w.credit),
         part_paid = part.back_paid + part.back_credit - least(part.back_credit, w.credit_limit - w.credit),
         trial = w.trial + part.back_trial,
         credit = w.credit + least(part.back_credit, w.credit_limit - w.credit),
         paid = w.paid + part.back_paid + part.back_credit - least(part.back_credit, w.credit_limit - w.credit),
         seq = w.seq + 1, touched_at = greatest(w.touched_at, $3::timestamptz)
  from part where w.account_id = part.account_id returning w.*
), written as (
  insert into entry (account_id, seq, at, kind, request_id, operation, key_id, price_version,
                     trial, paid, credit, earnings, balance_after, actor, note, reference)
  select m.account_id, m.seq, m.touched_at, 'reverse', $1, p.operation, p.key_id, p.price_version,
         m.part_trial, m.part_paid, m.part_credit, -$2::bigint, m.trial + m.paid + m.credit, $4, $5, $1
  from moved m, part p
) select trial + paid + credit as balance, trial from moved`;

/** Credit that is used or held. If a hold is voided when the line is full again, its credit goes to paid. */
const DRAWN = "(credit_limit - credit)";

async function move(
  queries: Queries,
  name: string,
  update: string,
  condition: string,
  kind: string,
  contra: string,
  values: unknown[],
): Promise<Balance | undefined> {
  const found = await queries.query<{ balance: number; trial: number }>({
    name: `ledger-${name}`,
    text: statement(update, condition, kind, contra, "null"),
    values,
  });
  const row = found.rows[0];
  return row && { balance: row.balance, trialBalance: row.trial };
}

/**
 * Moves tokens unless there is already an entry with the same reference. If two deliveries arrive at once,
 * the whole statement of one of them fails on the unique index.
 */
async function moveOnce(
  queries: Queries,
  accountId: string,
  reference: string,
  update: string,
  kind: string,
  contra: string,
  tokens: number,
  reason: Reason,
  expiresAt?: Date,
  name = kind,
): Promise<boolean> {
  const values: unknown[] = [accountId, tokens, reason.now, reason.actor, reason.note];
  if (expiresAt) values.push(expiresAt);
  values.push(reference);
  try {
    const known = `$${values.length}`;
    const isNew = `and not exists (select from entry where kind = '${kind}' and reference = ${known})`;
    const text = statement(update, isNew, kind, contra, known);
    const moved = await queries.query({ name: `ledger-${name}`, text, values });
    if (moved.rowCount === 1) return true;
    const found = await queries.query("select from wallet where account_id = $1", [accountId]);
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

async function readSpendable(queries: Queries, accountId: string): Promise<number> {
  const found = await queries.query<{ balance: number }>(
    "select trial + paid as balance from wallet where account_id = $1",
    [accountId],
  );
  if (!found.rows[0]) throw new Failure("not_found", { what: `The account ${accountId}` });
  return found.rows[0].balance;
}
