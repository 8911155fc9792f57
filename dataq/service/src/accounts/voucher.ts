import { createHash, randomInt } from "node:crypto";
import { Failure } from "@dataq/contract";
import type { Database } from "../database/database.ts";
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

/**
 * Credits a voucher to an account, once: it is taken first, in one conditional statement, and the ledger knows its
 * digest as the payment's reference. Should we die in between, the same account redeems it again.
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
     where code_sha256 = $1 and (redeemed_by is null or redeemed_by = $2) and (expires_at is null or expires_at > $3)
     returning tokens, hint`,
    [digest, accountId, author.now],
  );
  const voucher = taken.rows[0];
  if (!voucher) throw new Failure("invalid_voucher");
  const payment = {
    tokens: voucher.tokens,
    reference: `voucher:${digest.toString("hex")}`,
    note: `voucher …${voucher.hint}`,
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
