import type { Database } from "../database/database.ts";

/** The state of an Idempotency-Key: claimed for this call, a running call, or a finished one. */
export type Claim =
  | { readonly state: "claimed" }
  | { readonly state: "running" }
  | { readonly state: "finished"; readonly outcome: Buffer }
  /** The key was used with a different request before. */
  | { readonly state: "mismatch" };

/** Claims a key for a call. Of several calls exactly one gets `claimed`, and gets it again if it repeats the claim. */
export async function claimKey(
  database: Database,
  claim: {
    readonly accountId: string;
    readonly key: string;
    readonly bodySha256: Buffer;
    readonly requestId: string;
    readonly instanceId: number;
    readonly now: Date;
  },
): Promise<Claim> {
  const { accountId, key, bodySha256, requestId, instanceId, now } = claim;
  const made = await database.pool.query(
    `insert into idempotency (account_id, key, body_sha256, request_id, instance_id, created_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [accountId, key, bodySha256, requestId, instanceId, now],
  );
  if (made.rowCount === 1) return { state: "claimed" };
  const found = await database.pool.query<{
    body_sha256: Buffer;
    outcome: Buffer | null;
    request_id: string;
  }>("select body_sha256, outcome, request_id from idempotency where account_id = $1 and key = $2", [
    accountId,
    key,
  ]);
  const row = found.rows[0];
  // The key was released between the two statements.
  if (!row) return claimKey(database, claim);
  if (row.request_id === requestId && row.outcome === null) return { state: "claimed" };
  if (!row.body_sha256.equals(bodySha256)) return { state: "mismatch" };
  return row.outcome ? { state: "finished", outcome: row.outcome } : { state: "running" };
}

/** Releases the key for a retry, because the call ended without an outcome to keep. */
export async function freeKey(
  database: Database,
  accountId: string,
  key: string,
  requestId: string,
): Promise<void> {
  await database.pool.query(
    "delete from idempotency where account_id = $1 and key = $2 and request_id = $3 and outcome is null",
    [accountId, key, requestId],
  );
}

/** Deletes keys after a day. */
export async function sweepKeys(database: Database, now: Date): Promise<void> {
  await database.pool.query("delete from idempotency where created_at < $1", [
    new Date(now.getTime() - 86_400_000),
  ]);
}
