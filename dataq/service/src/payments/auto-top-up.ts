import { chinaMonth, instantInChina } from "@dataq/contract";
import { type AutoTopUpState, type ChargeFailure, chargeFailures } from "@dataq/contract/wire";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database, Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import type { SavedCard } from "./provider.ts";

/** What a customer has allowed: to charge a saved card when the balance is low, up to a sum in a month. */
export interface AutoTopUp {
  readonly accountId: string;
  readonly state: AutoTopUpState;
  readonly lowTokens: number;
  readonly amountFen: number;
  /** In a month of China. */
  readonly mostFen: number;
  readonly setupId: string | null;
  /** Where the card is saved. */
  readonly setupUrl: string | null;
  readonly customer: string | null;
  readonly method: string | null;
  readonly label: string | null;
  readonly consentedAt: Date;
  readonly failures: number;
  /** Why the last charge was not made. */
  readonly reason: ChargeFailure | null;
  /** After a failure: when the card may be charged again. */
  readonly notBefore: Date | null;
}

/** So many charges in a row may fail. */
const MOST_FAILURES = 3;
/** After a failure, as often as many hours. */
const PAUSE_MS = 6 * 3_600_000;
const LIFE_MS = 86_400_000;
const FIRST_ASK_MS = 30_000;

const COLUMNS = `account_id as "accountId", state, low_tokens as "lowTokens", amount_fen as "amountFen", most_fen as "mostFen",
  setup_id as "setupId", setup_url as "setupUrl", customer, method, label, consented_at as "consentedAt", failures, reason,
  not_before as "notBefore"`;

export async function findAutoTopUp(queries: Queries, accountId: string): Promise<AutoTopUp | undefined> {
  const found = await queries.query<AutoTopUp>(`select ${COLUMNS} from auto_top_up where account_id = $1`, [
    accountId,
  ]);
  const [row] = found.rows;
  return row && { ...row, reason: row.reason && failureOf(row.reason) };
}

/** Stores the consent with its time and address. With a saved card it counts at once. */
export async function allowAutoTopUp(
  transaction: Transaction,
  accountId: string,
  wanted: { readonly lowTokens: number; readonly amountFen: number; readonly mostFen: number },
  author: Author,
): Promise<AutoTopUp> {
  const { lowTokens, amountFen, mostFen } = wanted;
  const set = await transaction.query<AutoTopUp>(
    `insert into auto_top_up as t (account_id, state, low_tokens, amount_fen, most_fen, consented_at, consented_by, consented_ip)
     values ($1, 'waiting', $2, $3, $4, $5, $6, $7)
     on conflict (account_id) do update set low_tokens = $2, amount_fen = $3, most_fen = $4, consented_at = $5,
       consented_by = $6, consented_ip = $7, failures = 0, reason = null, not_before = null, tell_failure = false,
       state = case when t.method is null then 'waiting' else 'on' end
     returning ${COLUMNS}`,
    [accountId, lowTokens, amountFen, mostFen, author.now, author.actor, author.ip ?? null],
  );
  await writeAudit(transaction, author, "topup.allow", accountId, null, wanted);
  return set.rows[0]!;
}

/** Forgets consent and card. A charge that is under way still ends. */
export async function endAutoTopUp(
  transaction: Transaction,
  accountId: string,
  author: Author,
): Promise<void> {
  const ended = await transaction.query("delete from auto_top_up where account_id = $1", [accountId]);
  if (ended.rowCount === 1) await writeAudit(transaction, author, "topup.end", accountId, null, null);
}

/** Stores where the card is saved. */
export async function noteSetup(
  queries: Queries,
  accountId: string,
  { setupId, url }: { readonly setupId: string; readonly url: string },
): Promise<void> {
  await queries.query("update auto_top_up set setup_id = $2, setup_url = $3 where account_id = $1", [
    accountId,
    setupId,
    url,
  ]);
}

/** Stores the card that was saved at this setup. */
export async function noteCard(
  queries: Queries,
  setupId: string,
  { customer, method, label }: SavedCard,
): Promise<void> {
  await queries.query(
    `update auto_top_up set customer = $2, method = $3, label = $4, setup_id = null, setup_url = null, failures = 0,
       reason = null, not_before = null, tell_failure = false, state = 'on' where setup_id = $1`,
    [setupId, customer, method, label],
  );
}

/** Charged this month, or perhaps charged, in fen: of an expired charge nobody could say whether it was made. */
export async function chargedThisMonth(queries: Queries, accountId: string, now: Date): Promise<number> {
  const found = await queries.query<{ fen: number }>(
    `select coalesce(sum(amount_fen), 0)::bigint as fen from payment
     where account_id = $1 and card is not null and state in ('open', 'paid', 'expired') and created_at >= $2`,
    [accountId, new Date(instantInChina(`${chinaMonth(now)}-01`, "00:00:00"))],
  );
  return found.rows[0]!.fen;
}

/** When the next month begins in China. */
function nextMonth(now: Date): Date {
  const [year, month] = chinaMonth(now).split("-").map(Number) as [number, number];
  const next = month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, "0")}`;
  return new Date(instantInChina(`${next}-01`, "00:00:00"));
}

/** Accounts whose balance is low and whose owner has allowed a charge. */
export async function findLow(queries: Queries, now: Date): Promise<string[]> {
  const found = await queries.query<{ id: string }>(
    `select account_id as id from auto_top_up t join wallet w using (account_id)
     where t.state = 'on' and t.attempt is null and (t.not_before is null or t.not_before <= $1) and not w.frozen
       and w.trial + w.paid + w.credit < t.low_tokens order by t.not_before nulls first limit 100`,
    [now],
  );
  return found.rows.map(({ id }) => id);
}

/**
 * Begins a charge: its payment is the only one of the account that is under way. Returns undefined if another service
 * began one, or the month's sum is used up.
 */
export async function beginCharge(
  transaction: Transaction,
  accountId: string,
  tokensPerFen: number,
  now: Date,
): Promise<string | undefined> {
  const found = await transaction.query<AutoTopUp & { attempt: string | null }>(
    `select ${COLUMNS}, attempt from auto_top_up where account_id = $1 for update`,
    [accountId],
  );
  const allowed = found.rows[0];
  if (allowed?.state !== "on" || allowed.attempt !== null) return undefined;
  const { amountFen, mostFen, lowTokens, customer, method } = allowed;
  const wallet = await transaction.query<{ balance: number }>(
    "select trial + paid + credit as balance from wallet where account_id = $1",
    [accountId],
  );
  if (wallet.rows[0]!.balance >= lowTokens) return undefined;
  if ((await chargedThisMonth(transaction, accountId, now)) + amountFen > mostFen) {
    // So that accounts whose month is used up do not take the places of others.
    await transaction.query("update auto_top_up set not_before = $2 where account_id = $1", [
      accountId,
      nextMonth(now),
    ]);
    return undefined;
  }
  const id = makeIdentifier("pay", now);
  await transaction.query(
    `insert into payment (id, account_id, provider, amount_fen, tokens, actor, created_at, expires_at, ask_at, card)
     values ($1, $2, 'stripe', $3, $4, 'system', $5, $6, $7, $8)`,
    [
      id,
      accountId,
      amountFen,
      amountFen * tokensPerFen,
      now,
      new Date(now.getTime() + LIFE_MS),
      new Date(now.getTime() + FIRST_ASK_MS),
      JSON.stringify({ customer, method }),
    ],
  );
  await transaction.query("update auto_top_up set attempt = $2 where account_id = $1", [accountId, id]);
  const author = { actor: "system", now };
  await writeAudit(transaction, author, "payment.create", id, null, {
    account: accountId,
    amountFen,
    auto: true,
  });
  return id;
}

/** The charge was made: the next one may begin when the balance is low again. */
export async function noteCharged(queries: Queries, paymentId: string): Promise<void> {
  await queries.query(
    "update auto_top_up set attempt = null, failures = 0, reason = null, not_before = null, tell_failure = false where attempt = $1",
    [paymentId],
  );
}

/** What the owners of an account are told of a charge that was not made. */
export interface FailedCharge {
  readonly accountId: string;
  readonly reason: ChargeFailure;
  readonly isStopped: boolean;
}

/**
 * The charge was not made. After some in a row, or at once if only the customer can mend it, nothing is charged until the
 * customer says so. Writes the message to webhooks; `tellFailedCharges` sends the emails.
 */
export async function noteFailed(
  transaction: Transaction,
  payment: { readonly id: string; readonly amountFen: number },
  named: string | undefined,
  now: Date,
): Promise<void> {
  const reason = failureOf(named);
  await transaction.query(
    `with failed as (
       update auto_top_up set attempt = null, failures = failures + 1, reason = $2, tell_failure = true,
         state = case when $5 or failures + 1 >= ${MOST_FAILURES} then 'stopped' else state end,
         not_before = $3::timestamptz + (failures + 1) * $4 * interval '1 millisecond'
       where attempt = $1 returning *
     )
     select webhook_send(account_id, 'top_up.failed', $1, jsonb_build_object(
       'payment_id', $1::text, 'amount_fen', $6::bigint, 'reason', reason, 'failures', failures, 'state', state,
       'retry_at', case when state = 'on' then to_char(not_before at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end
     ), $3)::text from failed`,
    [payment.id, reason, now, PAUSE_MS, mendedByCustomer.includes(reason), payment.amountFen],
  );
}

/** Another try is of no use. */
const mendedByCustomer: readonly ChargeFailure[] = ["expired_card", "authentication_required"];

function failureOf(named: string | null | undefined): ChargeFailure {
  return chargeFailures.find((known) => known === named) ?? "other";
}

/** Tells whose card could not be charged, each time once. `tell` writes to the owners in the same transaction. */
export async function tellFailedCharges(
  database: Database,
  tell: (failed: FailedCharge, transaction: Transaction) => Promise<void>,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const found = await transaction.query<{ accountId: string; reason: string | null; isStopped: boolean }>(
      `update auto_top_up set tell_failure = false where tell_failure and state in ('on', 'stopped')
       returning account_id as "accountId", reason, state = 'stopped' as "isStopped"`,
    );
    for (const failed of found.rows) await tell({ ...failed, reason: failureOf(failed.reason) }, transaction);
  });
}
