import { Failure } from "@dataq/contract";
import type { CouponKind } from "@dataq/contract/wire";
import type { Queries } from "../database/database.ts";
import type { Transaction } from "../database/transaction.ts";
import { grantPromotion } from "../ledger/movement.ts";
import { ownNotes } from "../ledger/own-notes.ts";
import { type Author, writeAudit } from "./audit.ts";

/** A code that many accounts may redeem, each once. */
export interface Coupon {
  readonly code: string;
  readonly kind: CouponKind;
  /** Tokens, or percent off the list price. */
  readonly value: number;
  /** How long the tokens or the discount last. */
  readonly days: number;
  /** How many accounts may redeem it; null: any number. */
  readonly most: number | null;
  readonly redeemed: number;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** A discount counts from then on, when every instance knows of it. */
export const DISCOUNT_NOTICE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Throws `already_exists`. */
export async function createCoupon(
  transaction: Transaction,
  wanted: Omit<Coupon, "redeemed" | "createdAt">,
  author: Author,
): Promise<Coupon> {
  const { code, kind, value, days, most, expiresAt } = wanted;
  const made = await transaction.query(
    `insert into coupon (code, kind, value, days, most, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict do nothing`,
    [code, kind, value, days, most, author.now, expiresAt],
  );
  if (made.rowCount === 0) throw new Failure("already_exists", { what: `The coupon ${code}` });
  await writeAudit(transaction, author, "coupon.create", code, null, { kind, value, days, most, expiresAt });
  return { ...wanted, redeemed: 0, createdAt: author.now };
}

/** Changes when a coupon ends. Throws `not_found`. */
export async function endCoupon(
  transaction: Transaction,
  code: string,
  expiresAt: Date,
  author: Author,
): Promise<Coupon> {
  const before = (await transaction.query<Coupon>(`${SELECT} where code = $1 for update`, [code])).rows[0];
  if (!before) throw new Failure("not_found", { what: "The coupon" });
  await transaction.query("update coupon set expires_at = $2 where code = $1", [code, expiresAt]);
  await writeAudit(transaction, author, "coupon.end", code, { expiresAt: before.expiresAt }, { expiresAt });
  return { ...before, expiresAt };
}

/** Newest first. */
export async function listCoupons(queries: Queries): Promise<Coupon[]> {
  return (await queries.query<Coupon>(`${SELECT} order by created_at desc, code limit 500`)).rows;
}

/** What a coupon gave: tokens, or a discount until a time. */
export type Redeemed =
  | { readonly tokens: number }
  | { readonly tokens: 0; readonly percent: number; readonly until: Date };

/**
 * Redeems a coupon for an account, once. Tokens are a promotion: they last for the days of the coupon, or as long as a
 * trial that lasts longer. Throws `invalid_voucher`.
 */
export async function redeemCoupon(
  transaction: Transaction,
  accountId: string,
  text: string,
  author: Author,
): Promise<Redeemed> {
  const code = text.trim().toUpperCase();
  const { now } = author;
  const taken = await transaction.query<Coupon>(
    `update coupon set redeemed = redeemed + 1
     where code = $1 and (expires_at is null or expires_at > $2) and (most is null or redeemed < most)
     returning ${COLUMNS}`,
    [code, now],
  );
  const found = taken.rows[0];
  if (!found) throw new Failure("invalid_voucher");
  const { kind, value, days } = found;
  const id = `coupon:${code}:${accountId}`;
  await writeAudit(transaction, author, "coupon.redeem", accountId, null, { code, kind, value, days });
  if (kind === "tokens") {
    const grant = { tokens: value, expiresAt: new Date(now.getTime() + days * DAY_MS) };
    const reason = { actor: author.actor, note: `${ownNotes.coupon}${code}`, now };
    if (!(await grantPromotion(transaction, accountId, id, grant, reason)))
      throw new Failure("invalid_voucher");
    return { tokens: value };
  }
  const from = new Date(now.getTime() + DISCOUNT_NOTICE_MS);
  const until = new Date(from.getTime() + days * DAY_MS);
  const made = await transaction.query(
    `insert into discount (id, account_id, percent, coupon, effective_from, effective_until) values ($1, $2, $3, $4, $5, $6)
     on conflict do nothing`,
    [id, accountId, value, code, from, until],
  );
  if (made.rowCount === 0) throw new Failure("invalid_voucher");
  return { tokens: 0, percent: value, until };
}

const COLUMNS = `code, kind, value, days, most, redeemed, created_at as "createdAt", expires_at as "expiresAt"`;
const SELECT = `select ${COLUMNS} from coupon`;
