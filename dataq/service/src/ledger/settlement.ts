import type { Database } from "../database/database.ts";
import { type Balance, readAfter, toBalance, type WalletRow } from "./balance.ts";
import { type RunStatement, runDirectly, type Statement } from "./gather.ts";
import { untilKnown } from "./until-known.ts";

/**
 * Ends a hold: `tokens` of it are earned, the rest returns to the parts of the wallet that it came from; a `void` returns
 * all of it. Returns undefined if the hold does not exist, because another process ended it: then nothing moves. The same
 * applies if the outcome cannot be stored, because its Idempotency-Key now belongs to another call.
 */
export async function settle(
  database: Database,
  requestId: string,
  end: Settlement,
  kept?: KeptOutcome,
  run: RunStatement = runDirectly(database),
): Promise<Balance | undefined> {
  const tokens = end.kind === "void" ? 0 : end.tokens;
  const values = [requestId, end.kind, tokens, end.note, end.now];
  const send = async () => {
    if (!kept) return run<WalletRow>(SETTLE, values, end.accountId);
    const { accountId, key, outcome } = kept;
    const withOutcome = [...values, accountId, key, outcome];
    return (await database.pool.query<WalletRow>({ ...SETTLE_AND_KEEP, values: withOutcome })).rows[0];
  };
  const row = await untilKnown(async (isRepeat) => {
    const ended = await send();
    if (ended || !isRepeat) return ended;
    // Recovery voids a hold as well, but stores no outcome.
    if (kept && !(await isStored(database, requestId, kept))) return undefined;
    return readAfter(database, requestId, end.kind);
  });
  return row && toBalance(row);
}

/** How a hold ends. */
export interface Settlement {
  readonly kind: "capture" | "void";
  readonly tokens: number;
  readonly note: string;
  readonly now: Date;
  readonly accountId: string;
}

/** The outcome for a retry with the same Idempotency-Key. It is stored together with the movement, or not at all. */
export interface KeptOutcome {
  readonly accountId: string;
  readonly key: string;
  readonly outcome: Buffer;
}

async function isStored(database: Database, requestId: string, kept: KeptOutcome): Promise<boolean> {
  const { accountId, key } = kept;
  const found = await database.pool.query(
    "select from idempotency where account_id = $1 and key = $2 and request_id = $3 and outcome is not null",
    [accountId, key, requestId],
  );
  return found.rowCount === 1;
}

/** A capture takes the trial part of a hold first, as the hold did. The statement that deletes the hold ends it. */
const settleParts = (condition = "true") => `
ended as (
  delete from hold where request_id = $1 and tokens >= $3::bigint and ${condition} returning *
), part as (
  select *, trial - least(trial, $3) as back_trial,
         paid - least(paid, $3 - least(trial, $3)) as back_paid,
         credit - ($3 - least(trial, $3) - least(paid, $3 - least(trial, $3))) as back_credit
  from ended
), moved as (
  update wallet w set part_trial = part.back_trial,
         part_credit = least(part.back_credit, w.credit_limit - w.credit),
         part_paid = part.back_paid + part.back_credit - least(part.back_credit, w.credit_limit - w.credit),
         trial = w.trial + part.back_trial,
         credit = w.credit + least(part.back_credit, w.credit_limit - w.credit),
         paid = w.paid + part.back_paid + part.back_credit - least(part.back_credit, w.credit_limit - w.credit),
         held = w.held - part.tokens, seq = w.seq + 1, touched_at = greatest(w.touched_at, $5::timestamptz)
  from part where w.account_id = part.account_id
  returning w.*
), unspent as (
  update key_spend s set tokens = s.tokens - (part.tokens - $3)
  from part where s.key_id = coalesce(part.spend_key, part.key_id) and s.month = part.spend_month
), project_unspent as (
  update project_spend s set tokens = greatest(0, s.tokens - (part.tokens - $3))
  from part where s.project_id = part.project_id and s.month = part.project_month and part.tokens > $3
), session_unspent as (
  update session_spend s set tokens = greatest(0, s.tokens - (part.tokens - $3))
  from part where s.account_id = part.account_id and s.session = part.session
), written as (
  insert into entry (account_id, seq, at, kind, request_id, operation, key_id, price_version, cached,
                     trial, paid, credit, held, earnings, balance_after, actor, note)
  select moved.account_id, moved.seq, moved.touched_at, $2::text, $1, part.operation, part.key_id,
         part.price_version, part.cached, moved.part_trial, moved.part_paid, moved.part_credit, -part.tokens, $3,
         moved.trial + moved.paid + moved.credit, coalesce(part.key_id, 'system'), $4::text
  from moved, part
)`;

const SETTLE: Statement = {
  name: "ledger-settle",
  types: ["text", "text", "bigint", "text", "timestamptz"],
  text: `with ${settleParts()} select trial + paid + credit as balance, trial from moved`,
};

/** Locks the row of the key first, so that recovery cannot release the key between the end of the hold and the outcome. */
const SETTLE_AND_KEEP = {
  name: "ledger-settle-keep",
  text: `with claim as (
  select from idempotency where account_id = $6 and key = $7 and request_id = $1 for update
), ${settleParts("exists (select from claim)")}, kept as (
  update idempotency set outcome = $8
  where account_id = $6 and key = $7 and request_id = $1 and exists (select from ended)
) select trial + paid + credit as balance, trial from moved`,
};
