import type { ClientBase } from "pg";
import type { Queries } from "./database.ts";

/**
 * Every advisory lock of the service. A number always keeps its purpose, because two versions of the service may run
 * on one database.
 */
export const lockNumbers = {
  /** Applies migrations, one process at a time. */
  migration: 7_140_001,
  /** Held by a service as long as it runs; the key is its number. */
  instance: 7_140_002,
  /** Creates the secret, the local account and its key. */
  localAccount: 7_140_003,
  /** Seals new entries of the ledger. */
  ledgerSeal: 7_140_004,
  /** Builds the index of a corpus; the key is its name. */
  corpus: 7_140_005,
  /** Refreshes what is due, one service at a time. */
  refresh: 7_140_006,
  /** Asks for or approves a large sum; the key is the account, payment or call that it concerns. */
  approval: 7_140_015,
  /** Gives a person their account; the key is the person's ID. */
  person: 7_140_007,
  /** Seals new lines of the audit log. */
  auditSeal: 7_140_011,
  /** Makes the vectors of a corpus; the key is its name. */
  vectors: 7_140_012,
  /** Sums usage; shared by those who write lines of the request log. */
  usage: 7_140_013,
  /** Begins and ends maintenance. */
  maintenance: 7_140_014,
  /** Records an invoice; the key is its number, which two tables may have. */
  invoiceNumber: 7_140_016,
} as const;

export type LockName = keyof typeof lockNumbers;

/**
 * Waits for the lock. It belongs to the connection, which must stay open for as long as it is held; a connection of the
 * pool may be another one in the next statement (PgBouncer), so it must be one of `connect`.
 */
export async function lock(client: ClientBase, name: LockName, key?: string | number): Promise<void> {
  await client.query(...call("pg_advisory_lock", name, key));
}

/** Returns false if another connection holds it. */
export async function tryLock(client: ClientBase, name: LockName, key?: string | number): Promise<boolean> {
  const found = await client.query<{ taken: boolean }>(...call("pg_try_advisory_lock", name, key));
  return found.rows[0]!.taken;
}

export async function unlock(client: ClientBase, name: LockName, key?: string | number): Promise<void> {
  await client.query(...call("pg_advisory_unlock", name, key));
}

/** Waits for the lock, and holds it to the end of the transaction. */
export async function lockTransaction(
  transaction: Queries,
  name: LockName,
  key?: string | number,
): Promise<void> {
  await transaction.query(...call("pg_advisory_xact_lock", name, key));
}

/** The same, for a lock that several transactions can share. */
export async function shareLock(transaction: Queries, name: LockName): Promise<void> {
  await transaction.query(...call("pg_advisory_xact_lock_shared", name));
}

/** Returns false if another connection holds the lock; otherwise holds it to the end of the transaction. */
export async function tryLockTransaction(
  transaction: Queries,
  name: LockName,
  key?: string | number,
): Promise<boolean> {
  const found = await transaction.query<{ taken: boolean }>(...call("pg_try_advisory_xact_lock", name, key));
  return found.rows[0]!.taken;
}

function call(routine: string, name: LockName, key?: string | number): [string, (string | number)[]] {
  const number = lockNumbers[name];
  if (key === undefined) return [`select ${routine}($1::bigint) as taken`, [number]];
  const second = typeof key === "number" ? "$2::int" : "hashtext($2)";
  return [`select ${routine}($1::int, ${second}) as taken`, [number, key]];
}
