import { createHash, randomInt } from "node:crypto";
import { Failure } from "@dataq/contract";
import type { VoucherState } from "@dataq/contract/wire";
import type { Database } from "../database/database.ts";
import type { Transaction } from "../database/transaction.ts";
import { ownNotes } from "../ledger/own-notes.ts";
import { payIn } from "./account.ts";
import { type Author, writeAudit } from "./audit.ts";
import { assertFuture } from "./expiry.ts";

/** The characters of a code, without those that are easily confused. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const LENGTH = 20;

/** Vouchers that are created together. */
export interface VoucherBatch {
  readonly tokens: number;
  readonly count: number;
  readonly batch: string;
  readonly expiresAt?: Date | undefined;
}

/** Creates vouchers `DQ-XXXXX-XXXXX-XXXXX-XXXXX-C`. Only their digests are stored: only this result contains the codes. */
export async function createVouchers(
  transaction: Transaction,
  wanted: VoucherBatch,
  author: Author,
): Promise<string[]> {
  assertFuture(wanted.expiresAt, author.now);
  const codes = Array.from({ length: wanted.count }, makeCode);
  await transaction.query(
    `insert into voucher (code_sha256, hint, tokens, batch, created_at, expires_at)
     select code, hint, $3, $4, $5, $6 from unnest($1::bytea[], $2::text[]) as made(code, hint)`,
    [
      codes.map(digestOf),
      codes.map((code) => code.slice(-7)),
      wanted.tokens,
      wanted.batch,
      author.now,
      wanted.expiresAt ?? null,
    ],
  );
  const { tokens, count, batch } = wanted;
  await writeAudit(transaction, author, "voucher.create", batch, null, { tokens, count });
  return codes;
}

/** A voucher without its code. */
export interface Voucher {
  /** The last characters of its code. */
  readonly hint: string;
  readonly tokens: number;
  readonly batch: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly redeemedAt: Date | null;
  readonly redeemedBy: string | null;
}

export interface VoucherQuery {
  readonly limit: number;
  readonly now: Date;
  readonly state?: VoucherState | undefined;
  /** The last voucher of the previous page. */
  readonly before?: VoucherPlace | undefined;
}

/** A position in the list, unique for each voucher. */
export interface VoucherPlace {
  readonly createdAt: Date;
  readonly digest: string;
}

/** Lists vouchers, newest first. */
export async function listVouchers(
  database: Database,
  { limit, now, state, before }: VoucherQuery,
): Promise<(Voucher & { readonly place: VoucherPlace })[]> {
  const found = await database.pool.query<Voucher & { digest: string }>(
    `select hint, tokens, batch, created_at as "createdAt", expires_at as "expiresAt", redeemed_at as "redeemedAt",
            redeemed_by as "redeemedBy", encode(code_sha256, 'hex') as digest
       from voucher
      where ($2::text is null or $2 = case when redeemed_by is not null then 'redeemed'
                                           when expires_at <= $3 then 'expired' else 'open' end)
        and ($4::timestamptz is null or (created_at, code_sha256) < ($4, decode($5, 'hex')))
      order by created_at desc, code_sha256 desc limit $1`,
    [limit, state ?? null, now, before?.createdAt ?? null, before?.digest ?? null],
  );
  return found.rows.map(({ digest, ...voucher }) => ({
    ...voucher,
    place: { createdAt: voucher.createdAt, digest },
  }));
}

/** Credits a voucher to an account, once. Returns its tokens; throws `invalid_voucher`. */
export async function redeemVoucher(
  transaction: Transaction,
  accountId: string,
  text: string,
  author: Author,
): Promise<number> {
  const code = text.trim().toUpperCase().replace(/[\s-]/g, "");
  if (!isCode(code)) throw new Failure("invalid_voucher");
  const digest = digestOf(code);
  const reference = `voucher:${digest.toString("hex")}`;
  // An older version could redeem a voucher without crediting it. In that case the same account may redeem it
  // again.
  const taken = await transaction.query<{ tokens: number; hint: string }>(
    `update voucher set redeemed_at = $3, redeemed_by = $2
     where code_sha256 = $1
       and (redeemed_by = $2 or redeemed_by is null and (expires_at is null or expires_at > $3))
     returning tokens, hint`,
    [digest, accountId, author.now],
  );
  const voucher = taken.rows[0];
  if (!voucher) throw new Failure("invalid_voucher");
  const { tokens, hint } = voucher;
  const payment = { tokens, reference, note: `${ownNotes.voucher}${hint}` };
  if (!(await payIn(transaction, accountId, payment, author))) throw new Failure("invalid_voucher");
  await writeAudit(transaction, author, "voucher.redeem", accountId, null, { hint, tokens });
  return tokens;
}

function makeCode(): string {
  let body = "";
  for (let i = 0; i < LENGTH; i++) body += ALPHABET[randomInt(ALPHABET.length)]!;
  const groups = body.match(/.{5}/g)!;
  return `DQ-${groups.join("-")}-${checkOf(body)}`;
}

/** Rejects a mistyped code without a query. */
function isCode(code: string): boolean {
  if (!code.startsWith("DQ") || code.length !== LENGTH + 3) return false;
  const body = code.slice(2, -1);
  return [...body].every((character) => ALPHABET.includes(character)) && checkOf(body) === code.at(-1);
}

/** A weighted sum, which detects every wrong character and every swap of two neighbours. */
function checkOf(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i++) sum += (i + 1) * ALPHABET.indexOf(body[i]!);
  return ALPHABET[sum % ALPHABET.length]!;
}

function digestOf(code: string): Buffer {
  return createHash("sha256").update(code.replaceAll("-", "")).digest();
}
