import { Failure, invalid } from "@dataq/contract";
import type { CorrectionKind, InvoiceBuyer, InvoiceFilter, InvoiceState } from "@dataq/contract/wire";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { lockTransaction } from "../database/locks.ts";
import type { Transaction } from "../database/transaction.ts";
import { lockPayment, returnedFen, returnsOf, wrongState } from "../payments/payment.ts";
import { yuanOf } from "../payments/provider.ts";

export type Buyer = Required<InvoiceBuyer>;

/** An invoice over a part of an issued one. */
export interface Correction {
  readonly kind: CorrectionKind;
  readonly number: string;
  readonly amountFen: number;
  readonly issuedAt: Date;
}

/** What an account asked to have invoiced. */
export interface Invoice {
  readonly id: string;
  readonly accountId: string;
  readonly state: InvoiceState;
  /** What was paid less what went back; of an issued one, as it was then. */
  readonly amountFen: number;
  /** What went back since it was issued and is not corrected yet: a red invoice is due over it. */
  readonly redFen: number;
  /** What came back since: red invoices stay, so that another one is due over it. At most one of the two is not 0. */
  readonly againFen: number;
  /** Oldest first. */
  readonly corrections: readonly Correction[];
  readonly buyer: Buyer;
  readonly payments: readonly string[];
  readonly number: string | null;
  readonly createdAt: Date;
  readonly issuedAt: Date | null;
}

export async function findBuyer(queries: Queries, accountId: string): Promise<Buyer | undefined> {
  const found = await queries.query<{ buyer: Buyer }>(
    "select buyer from invoice_buyer where account_id = $1",
    [accountId],
  );
  return found.rows[0]?.buyer;
}

export async function setBuyer(
  transaction: Transaction,
  accountId: string,
  buyer: Buyer,
  author: Author,
): Promise<void> {
  await transaction.query(
    `insert into invoice_buyer values ($1, $2, $3)
     on conflict (account_id) do update set buyer = excluded.buyer, changed_at = excluded.changed_at`,
    [accountId, buyer, author.now],
  );
  await writeAudit(transaction, author, "invoice.buyer", accountId, null, { title: buyer.title });
}

/**
 * Requests an invoice for payments of the account, over what was paid less what went back. Throws `not_found` without a
 * buyer or such a payment, `payment_state` for one that is not paid, and `already_exists` for one that has an invoice.
 */
export async function requestInvoice(
  transaction: Transaction,
  accountId: string,
  paymentIds: readonly string[],
  author: Author,
): Promise<Invoice> {
  const buyer = await findBuyer(transaction, accountId);
  if (!buyer) throw new Failure("not_found", { what: "The buyer of the invoice (PATCH /v1/invoices/buyer)" });
  const id = makeIdentifier("inv", author.now);
  const ids = [...new Set(paymentIds)].sort();
  let amountFen = 0;
  for (const paymentId of ids) {
    const payment = await lockPayment(transaction, paymentId);
    if (payment?.accountId !== accountId)
      throw new Failure("not_found", { what: `The payment ${paymentId.slice(0, 64)}` });
    const leftFen = payment.amountFen - returnedFen(await returnsOf(transaction, paymentId));
    if (payment.state !== "paid" || leftFen === 0)
      throw wrongState(payment.state === "paid" ? "refunded" : payment.state);
    const used = await transaction.query("select from invoice_payment where payment_id = $1", [paymentId]);
    if (used.rowCount !== 0)
      throw new Failure("already_exists", { what: `An invoice for the payment ${paymentId}` });
    amountFen += leftFen;
  }
  await transaction.query(
    "insert into invoice (id, account_id, amount_fen, buyer, created_at) values ($1, $2, $3, $4, $5)",
    [id, accountId, amountFen, buyer, author.now],
  );
  await transaction.query("insert into invoice_payment select unnest($1::text[]), $2", [ids, id]);
  await writeAudit(transaction, author, "invoice.request", id, null, {
    account: accountId,
    amount_fen: amountFen,
  });
  return (await listInvoices(transaction, { id, limit: 1 }))[0]!;
}

/**
 * Records that an invoice was issued, over what is left of its payments now. Throws `not_found`, `already_exists` if it or
 * the number is taken, `payment_state` if all of it went back, and `invalid_params` if the operator issued another
 * amount than that.
 */
export async function issueInvoice(
  transaction: Transaction,
  id: string,
  { number, amountFen }: { readonly number: string; readonly amountFen?: number | undefined },
  author: Author,
): Promise<Invoice> {
  await lockPayments(transaction, id);
  const [before] = await listInvoices(transaction, { id, limit: 1 });
  if (before?.state === "requested") {
    if (before.amountFen === 0) throw wrongState("refunded");
    if (amountFen !== undefined && amountFen !== before.amountFen)
      throw invalid(
        "amount_fen",
        "value",
        `amount_fen is not that of the invoice, ${before.amountFen}: money went back since you looked`,
        `issue an invoice over ${yuanOf(before.amountFen)} CNY, and a red one for the other`,
        `这张发票现在应为 ${yuanOf(before.amountFen)} 元，期间有退款；请按此金额开具，已开的请红冲`,
      );
  }
  await takeNumber(transaction, number, id);
  const changed = await transaction.query(
    `update invoice set state = 'issued', number = $2, issued_at = $3, amount_fen = $4
     where id = $1 and state = 'requested'`,
    [id, number, author.now, before?.amountFen ?? 0],
  );
  const [invoice] = await listInvoices(transaction, { id, limit: 1 });
  if (!invoice) throw new Failure("not_found", { what: `The invoice ${id.slice(0, 64)}` });
  if (changed.rowCount === 0) throw new Failure("already_exists", { what: `The invoice ${invoice.number}` });
  await writeAudit(transaction, author, "invoice.issue", id, null, { number });
  return invoice;
}

/**
 * Records an invoice over a part of an issued one. Throws `not_found`, `already_exists` if the number is taken, and
 * `invalid_params` if that much is not due.
 */
export async function correctInvoice(
  transaction: Transaction,
  id: string,
  wanted: { readonly kind: CorrectionKind; readonly number: string; readonly amountFen: number },
  author: Author,
): Promise<Invoice> {
  const { kind, number, amountFen } = wanted;
  await lockPayments(transaction, id);
  const [before] = await listInvoices(transaction, { id, limit: 1 });
  if (!before) throw new Failure("not_found", { what: `The invoice ${id.slice(0, 64)}` });
  await takeNumber(transaction, number);
  const dueFen = kind === "red" ? before.redFen : before.againFen;
  if (amountFen > dueFen) throw notDue(kind, dueFen);
  await transaction.query("insert into invoice_correction values ($1, $2, $3, $4, $5)", [
    number,
    id,
    kind,
    amountFen,
    author.now,
  ]);
  await writeAudit(transaction, author, "invoice.correct", id, null, { kind, number, amount_fen: amountFen });
  return (await listInvoices(transaction, { id, limit: 1 }))[0]!;
}

function notDue(kind: CorrectionKind, dueFen: number): Failure {
  const what = kind === "red" ? "due in red" : "due again";
  const whatZh = kind === "red" ? "红冲" : "补开";
  return invalid(
    "amount_fen",
    "range",
    `amount_fen must not exceed what is ${what}, ${dueFen}`,
    dueFen > 0 ? `send at most ${dueFen}` : "look at the invoice again: nothing of it is to be corrected so",
    dueFen > 0 ? `这张发票最多还需${whatZh} ${dueFen} 分` : `这张发票目前无需${whatZh}，请刷新后再看`,
  );
}

/** Nothing goes back meanwhile, and nobody else records something about the invoice. */
async function lockPayments(transaction: Transaction, invoiceId: string): Promise<void> {
  await transaction.query(
    `select from payment where id in (select payment_id from invoice_payment where invoice_id = $1) order by id for update`,
    [invoiceId],
  );
}

/** Throws `already_exists` if another invoice or a correction has the number. */
async function takeNumber(transaction: Transaction, number: string, own?: string): Promise<void> {
  await lockTransaction(transaction, "invoiceNumber", number);
  const used = await transaction.query(
    `select from invoice where number = $1 and id is distinct from $2
     union all select from invoice_correction where number = $1`,
    [number, own ?? null],
  );
  if (used.rowCount !== 0)
    throw new Failure("already_exists", { what: `An invoice with the number ${number}` });
}

/** Newest first. */
export async function listInvoices(
  queries: Queries,
  filter: {
    readonly id?: string | undefined;
    readonly accountId?: string | undefined;
    readonly state?: InvoiceFilter | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<Invoice[]> {
  const found = await queries.query<Omit<Invoice, "corrections">>(
    `select id, account_id as "accountId", state, buyer, number,
            (case when state = 'requested' then left_fen else amount_fen end)::bigint as "amountFen",
            greatest(0, over_fen)::bigint as "redFen", greatest(0, -over_fen)::bigint as "againFen",
            created_at as "createdAt", issued_at as "issuedAt",
            (select array_agg(payment_id order by payment_id) from invoice_payment where invoice_id = i.id) as payments
     from invoice i cross join lateral (
       select coalesce(sum(p.amount_fen - (
         select coalesce(sum(r.amount_fen), 0) from payment_return r where r.payment_id = p.id and r.state <> 'failed'
       )), 0) as left_fen from invoice_payment l join payment p on p.id = l.payment_id where l.invoice_id = i.id
     ) now cross join lateral (
       select coalesce(sum(case kind when 'red' then -amount_fen else amount_fen end), 0) as corrected_fen
       from invoice_correction where invoice_id = i.id
     ) since cross join lateral (
       select case when state = 'issued' then amount_fen + corrected_fen - left_fen else 0 end as over_fen
     ) due
     where ($2::text is null or id = $2) and ($3::text is null or account_id = $3)
       and ($4::text is null or state = $4 or $4 = 'to_correct' and over_fen <> 0) and ($5::text is null or id < $5)
     order by id desc limit $1`,
    [filter.limit, filter.id ?? null, filter.accountId ?? null, filter.state ?? null, filter.after ?? null],
  );
  const corrections = await queries.query<Correction & { readonly invoiceId: string }>(
    `select invoice_id as "invoiceId", kind, number, amount_fen as "amountFen", issued_at as "issuedAt"
     from invoice_correction where invoice_id = any($1) order by issued_at, number`,
    [found.rows.map(({ id }) => id)],
  );
  const byInvoice = Map.groupBy(corrections.rows, ({ invoiceId }) => invoiceId);
  return found.rows.map((invoice) => ({ ...invoice, corrections: byInvoice.get(invoice.id) ?? [] }));
}
