import { createHash, randomInt } from "node:crypto";
import { Failure } from "@dataq/contract";
import type { VoucherState } from "@dataq/contract/wire";
import type { Database } from "../database/database.ts";
import { ownNotes } from "../ledger/own-notes.ts";
import { payIn } from "./account.ts";
import { type Author, writeAudit } from "./audit.ts";

/** No letters and digits that are read for each other. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const LENGTH = 20;

/** What a batch of vouchers has in common. */
export interface VoucherBatch {
  readonly tokens: number;
  readonly count: number;
  readonly batch: string;
  readonly expiresAt?: Date | undefined;
}

/** Makes vouchers `DQ-XXXXX-XXXXX-XXXXX-XXXXX-C`. Only digests are stored: the codes are in this answer alone. */
export async function createVouchers(
  database: Database,
  wanted: VoucherBatch,
  author: Author,
): Promise<string[]> {
  const codes = Array.from({ length: wanted.count }, makeCode);
  await database.pool.query(
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
  await writeAudit(database, author, "voucher.create", batch, null, { tokens, count });
  return codes;
}

/** A voucher as an operator sees it later: all but its code. */
export interface Voucher {
  /** The end of its code, to tell it by. */
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
  /** Where the page before ended. */
  readonly before?: VoucherPlace | undefined;
}

/** A place in the list: no two vouchers have the same. */
export interface VoucherPlace {
  readonly createdAt: Date;
  readonly digest: string;
}

/** Newest first. */
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

/**
 * Credits a voucher to an account, once: it is taken first, in one conditional statement, and the ledger knows its
 * digest as the payment's reference. Should we die in between, the same account redeems it again, also after it expired.
 */
export async function redeemVoucher(
  database: Database,
  accountId: string,
  text: string,
  author: Author,
): Promise<number> {
  const code = text.trim().toUpperCase().replace(/[\s-]/g, "");
  if (!isCode(code)) throw new Failure("invalid_voucher");
  const digest = digestOf(code);
  const taken = await database.pool.query<{ tokens: number; hint: string }>(
    `update voucher set redeemed_at = $3, redeemed_by = $2
     where code_sha256 = $1
       and (redeemed_by = $2 or redeemed_by is null and (expires_at is null or expires_at > $3))
     returning tokens, hint`,
    [digest, accountId, author.now],
  );
  const voucher = taken.rows[0];
  if (!voucher) throw new Failure("invalid_voucher");
  const payment = {
    tokens: voucher.tokens,
    reference: `voucher:${digest.toString("hex")}`,
    note: `${ownNotes.voucher}${voucher.hint}`,
  };
  if (!(await payIn(database, accountId, payment, author))) throw new Failure("invalid_voucher");
  await writeAudit(database, author, "voucher.redeem", accountId, null, {
    hint: voucher.hint,
    tokens: voucher.tokens,
  });
  return voucher.tokens;
}

function makeCode(): string {
  let body = "";
  for (let i = 0; i < LENGTH; i++) body += ALPHABET[randomInt(ALPHABET.length)]!;
  const groups = body.match(/.{5}/g)!;
  return `DQ-${groups.join("-")}-${checkOf(body)}`;
}

/** Catches a mistyped code before it is looked up. */
function isCode(code: string): boolean {
  if (!code.startsWith("DQ") || code.length !== LENGTH + 3) return false;
  const body = code.slice(2, -1);
  return [...body].every((character) => ALPHABET.includes(character)) && checkOf(body) === code.at(-1);
}

/** A weighted sum: every wrong character and every swap of neighbours shows. */
function checkOf(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i++) sum += (i + 1) * ALPHABET.indexOf(body[i]!);
  return ALPHABET[sum % ALPHABET.length]!;
}

function digestOf(code: string): Buffer {
  return createHash("sha256").update(code.replaceAll("-", "")).digest();
}
