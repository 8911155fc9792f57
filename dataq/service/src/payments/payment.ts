import { Failure } from "@dataq/contract";
import type {
  MoneyReturnKind,
  MoneyReturnState,
  PaymentNews,
  PaymentProvider,
  PaymentState,
  PaymentTrouble,
} from "@dataq/contract/wire";
import type { Queries } from "../database/database.ts";
import type { PaidBill, SavedCard } from "./provider.ts";

/** Money that went back to a customer, and what it took from the wallet. */
export interface MoneyReturn {
  readonly id: string;
  readonly kind: MoneyReturnKind;
  readonly state: MoneyReturnState;
  readonly amountFen: number;
  readonly paid: number;
  readonly credit: number;
  readonly lost: number;
  readonly providerId: string | null;
  readonly reason: string;
  /** What it took from a package. */
  readonly packageTokens: number;
  /** False if it was made at the provider. */
  readonly isOwn: boolean;
  readonly createdAt: Date;
}

/** A payment of an account at a provider. */
export interface Payment {
  readonly id: string;
  readonly accountId: string;
  readonly provider: PaymentProvider;
  readonly amountFen: number;
  readonly tokens: number;
  readonly state: PaymentState;
  readonly url: string | null;
  readonly qr: string | null;
  readonly reference: string | null;
  readonly providerId: string | null;
  readonly transaction: string | null;
  readonly heardBy: PaymentNews | null;
  readonly trouble: PaymentTrouble | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
  /** The offer of the package that it buys. */
  readonly packageOffer: string | null;
  readonly packageDays: number | null;
  /** The card that it charges by itself. */
  readonly card: Omit<SavedCard, "label"> | null;
}

export interface PaymentWithReturns extends Payment {
  readonly accountName: string;
  readonly invoiceId: string | null;
  readonly returns: readonly MoneyReturn[];
}

const COLUMNS = `p.id, p.account_id as "accountId", p.provider, p.amount_fen as "amountFen", p.tokens, p.state, p.url, p.qr,
  p.reference, p.provider_id as "providerId", p.transaction, p.heard_by as "heardBy",
  coalesce(p.trouble_told, case when p.trouble is not null then jsonb_build_object('code', 'other', 'text', p.trouble) end) as trouble,
  p.created_at as "createdAt", p.expires_at as "expiresAt", p.paid_at as "paidAt", p.package_offer as "packageOffer",
  p.package_days as "packageDays", p.card`;
const RETURN_COLUMNS = `id, kind, state, amount_fen as "amountFen", paid, credit, lost, provider_id as "providerId", reason, own as "isOwn", package_tokens as "packageTokens",
  created_at as "createdAt"`;

/** The payment, locked until the end of the transaction. */
export async function lockPayment(transaction: Queries, id: string): Promise<Payment | undefined> {
  const found = await transaction.query<Payment>(
    `select ${COLUMNS} from payment p where p.id = $1 for update`,
    [id],
  );
  return found.rows[0];
}

export async function findPayment(queries: Queries, id: string): Promise<Payment | undefined> {
  return (await queries.query<Payment>(`select ${COLUMNS} from payment p where p.id = $1`, [id])).rows[0];
}

export interface PaymentFilter {
  readonly id?: string | undefined;
  readonly accountId?: string | undefined;
  readonly state?: PaymentState | undefined;
  readonly provider?: PaymentProvider | undefined;
  /** The last ID of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listPayments(
  queries: Queries,
  { id, accountId, state, provider, after, limit }: PaymentFilter,
): Promise<PaymentWithReturns[]> {
  const found = await queries.query<Omit<PaymentWithReturns, "returns">>(
    `select ${COLUMNS}, a.name as "accountName", i.invoice_id as "invoiceId"
     from payment p join account a on a.id = p.account_id left join invoice_payment i on i.payment_id = p.id
     where ($2::text is null or p.id = $2) and ($3::text is null or p.account_id = $3)
       and ($4::text is null or p.state = $4) and ($5::text is null or p.provider = $5)
       and ($6::text is null or p.id < $6)
     order by p.id desc limit $1`,
    [limit, id ?? null, accountId ?? null, state ?? null, provider ?? null, after ?? null],
  );
  const returns = await queries.query<MoneyReturn & { paymentId: string }>(
    `select payment_id as "paymentId", ${RETURN_COLUMNS} from payment_return where payment_id = any($1) order by created_at, id`,
    [found.rows.map((payment) => payment.id)],
  );
  const byPayment = Map.groupBy(returns.rows, ({ paymentId }) => paymentId);
  return found.rows.map((payment) => ({ ...payment, returns: byPayment.get(payment.id) ?? [] }));
}

export async function returnsOf(queries: Queries, paymentId: string): Promise<MoneyReturn[]> {
  const found = await queries.query<MoneyReturn>(
    `select ${RETURN_COLUMNS} from payment_return where payment_id = $1 order by created_at, id`,
    [paymentId],
  );
  return found.rows;
}

/** What went back, or is on its way. */
export function returnedFen(returns: readonly MoneyReturn[]): number {
  return returns.reduce((sum, { state, amountFen }) => (state === "failed" ? sum : sum + amountFen), 0);
}

/** The payment as its provider knows it. Throws if it was never paid. */
export function paidBillOf({ transaction, ...payment }: Payment): PaidBill {
  if (transaction === null) throw new Error(`The payment ${payment.id} was not paid.`);
  return { ...payment, transaction };
}

/** What names a payment in the ledger. */
export function ledgerReference(paymentId: string): string {
  return `payment:${paymentId}`;
}

const statesZh = {
  open: "待付款",
  paid: "已付款",
  expired: "已过期",
  failed: "失败",
  refunded: "已退款",
} as const;

/** The error where a payment is in another state than what was asked needs. */
export function wrongState(state: keyof typeof statesZh): Failure {
  return new Failure("payment_state", { state, zh: { state: statesZh[state] } });
}
