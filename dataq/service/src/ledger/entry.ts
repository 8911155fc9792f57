import { createHash } from "node:crypto";
import type { EntryKind } from "@dataq/contract/wire";
import type { Queries } from "../database/database.ts";

/** One balanced movement with all its columns. */
export interface Entry {
  readonly account_id: string;
  readonly seq: number;
  readonly at: Date;
  readonly kind: EntryKind;
  readonly request_id: string | null;
  readonly operation: string | null;
  readonly key_id: string | null;
  readonly price_version: number | null;
  readonly cached: boolean;
  readonly trial: number;
  readonly paid: number;
  readonly credit: number;
  readonly held: number;
  readonly earnings: number;
  readonly breakage: number;
  readonly promotions: number;
  readonly payments: number;
  readonly adjustments: number;
  readonly credit_line: number;
  /** The change of the spendable balance: trial + paid + credit. */
  readonly tokens: number;
  readonly balance_after: number;
  readonly actor: string;
  readonly note: string;
  readonly reference: string | null;
}

export const entryColumns = [
  "account_id",
  "seq",
  "at",
  "kind",
  "request_id",
  "operation",
  "key_id",
  "price_version",
  "cached",
  "trial",
  "paid",
  "credit",
  "held",
  "earnings",
  "breakage",
  "promotions",
  "payments",
  "adjustments",
  "credit_line",
  "tokens",
  "balance_after",
  "actor",
  "note",
  "reference",
] as const satisfies readonly (keyof Entry)[];

/** Newest first; only entries before `before` if given. */
export async function listEntries(
  queries: Queries,
  accountId: string,
  limit: number,
  before?: number,
): Promise<Entry[]> {
  const found = await queries.query<Entry>(
    `select ${entryColumns.join(", ")} from entry
     where account_id = $1 and ($3::bigint is null or seq < $3) order by seq desc limit $2`,
    [accountId, limit, before ?? null],
  );
  return found.rows;
}

/** The entries of one call, oldest first. */
export async function entriesOfRequest(
  queries: Queries,
  accountId: string,
  requestId: string,
): Promise<Entry[]> {
  const found = await queries.query<Entry>(
    `select ${entryColumns.join(", ")} from entry where request_id = $2 and account_id = $1 order by seq`,
    [accountId, requestId],
  );
  return found.rows;
}

/** All entries of an account after `after`, oldest first, of which `atOnce` are read together. */
export async function* readEntries(
  queries: Queries,
  accountId: string,
  after = 0,
  atOnce = 1_000,
): AsyncGenerator<Entry> {
  for (let last = after; ; ) {
    const found = await queries.query<Entry>(
      `select ${entryColumns.join(", ")} from entry where account_id = $1 and seq > $2 order by seq limit ${atOnce}`,
      [accountId, last],
    );
    yield* found.rows;
    if (found.rows.length < atOnce) return;
    last = found.rows.at(-1)!.seq;
  }
}

/** The start of an account's hash chain. */
export function chainStart(accountId: string): Buffer {
  return createHash("sha256").update(`dataq ledger of ${accountId}`).digest();
}

/**
 * The chain after `entry`: SHA-256 of the hash before it, and of its columns as a JSON array in the order of
 * `entryColumns`, times in ISO 8601. It can be recomputed from an export.
 */
export function chainNext(before: Buffer, entry: Entry): Buffer {
  const text = JSON.stringify(entryColumns.map((column) => entry[column]));
  return createHash("sha256").update(before).update(text).digest();
}
