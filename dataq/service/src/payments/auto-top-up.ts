import { chinaMonth, instantInChina } from "@dataq/contract";
import type { AutoTopUpState } from "@dataq/contract/wire";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import type { Transaction } from "../database/transaction.ts";
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
  readonly reason: string | null;
}

/** So many charges in a row may fail. */
const MOST_FAILURES = 3;
/** After a failure, as often as many hours. */
const PAUSE_MS = 6 * 3_600_000;
const LIFE_MS = 86_400_000;
const FIRST_ASK_MS = 30_000;

const COLUMNS = `account_id as "accountId", state, low_tokens as "lowTokens", amount_fen as "amountFen", most_fen as "mostFen",
  setup_id as "setupId", setup_url as "setupUrl", customer, method, label, consented_at as "consentedAt", failures, reason`;

export async function findAutoTopUp(queries: Queries, accountId: string): Promise<AutoTopUp | undefined> {
  const found = await queries.query<AutoTopUp>(`select ${COLUMNS} from auto_top_up where account_id = $1`, [
    accountId,
  ]);
  return found.rows[0];
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
       consented_by = $6, consented_ip = $7, failures = 0, reason = null, not_before = null,
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
       reason = null, not_before = null, state = 'on' where setup_id = $1`,
    [setupId, customer, method, label],
  );
}

/** Charged this month, or about to be, in fen. */
export async function chargedThisMonth(queries: Queries, accountId: string, now: Date): Promise<number> {
  const found = await queries.query<{ fen: number }>(
    `select coalesce(sum(amount_fen), 0)::bigint as fen from payment
     where account_id = $1 and card is not null and state in ('open', 'paid') and created_at >= $2`,
    [accountId, new Date(instantInChina(`${chinaMonth(now)}-01`, "00:00:00"))],
  );
  return found.rows[0]!.fen;
}

/** Accounts whose balance is low and whose owner has allowed a charge. */
export async function findLow(queries: Queries, now: Date): Promise<string[]> {
  const found = await queries.query<{ id: string }>(
    `select account_id as id from auto_top_up t join wallet w using (account_id)
     where t.state = 'on' and t.attempt is null and (t.not_before is null or t.not_before <= $1) and not w.frozen
       and w.trial + w.paid + w.credit < t.low_tokens limit 100`,
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
  if ((await chargedThisMonth(transaction, accountId, now)) + amountFen > mostFen) return undefined;
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
    "update auto_top_up set attempt = null, failures = 0, reason = null, not_before = null where attempt = $1",
    [paymentId],
  );
}

/** What the owners of an account are told of a charge that was not made. */
export interface FailedCharge {
  readonly accountId: string;
  readonly reason: string;
  readonly isStopped: boolean;
}

/** The charge was not made. After some in a row, nothing is charged until the customer says so. */
export async function noteFailed(
  queries: Queries,
  paymentId: string,
  reason: string,
  now: Date,
): Promise<FailedCharge | undefined> {
  const found = await queries.query<{ accountId: string; isStopped: boolean }>(
    `update auto_top_up set attempt = null, failures = failures + 1, reason = $2,
       not_before = $3::timestamptz + (failures + 1) * $4 * interval '1 millisecond',
       state = case when failures + 1 >= ${MOST_FAILURES} then 'stopped' else state end
     where attempt = $1 returning account_id as "accountId", state = 'stopped' as "isStopped"`,
    [paymentId, reason, now, PAUSE_MS],
  );
  const [failed] = found.rows;
  return failed && { ...failed, reason };
}
