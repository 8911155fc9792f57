import { Failure } from "@dataq/contract";
import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { type Balance, readAfter, toBalance, type WalletRow } from "./balance.ts";
import { type RunStatement, runDirectly, type Statement } from "./gather.ts";
import { type KeyCap, spend } from "./key-spend.ts";
import { expireTrial } from "./movement.ts";
import { expirePackagesOf } from "./package.ts";
import { assertWithin, beyondBudget, isBeyondBudget, type ProjectSpending } from "./project-spend.ts";
import { type SessionBudget, spendOfSession } from "./session-spend.ts";
import type { KeptOutcome } from "./settlement.ts";
import { untilKnown } from "./until-known.ts";

/** What a call sets aside before it runs. */
export interface HoldRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly operation: string;
  /** The price of this call: half the list price for an answer from the cache. Above 0. */
  readonly tokens: number;
  readonly priceVersion: number;
  readonly cached: boolean;
  readonly instanceId: number;
  readonly now: Date;
  /** After this time the sweeper voids the hold. */
  readonly deadline: Date;
  /** The monthly limit of the key. */
  readonly cap?: KeyCap | undefined;
  /** The project of the key. */
  readonly project?: ProjectSpending | undefined;
  /** The budget of the session that the call belongs to. */
  readonly budget?: SessionBudget | undefined;
}

/**
 * Sets tokens aside: trial first, then paid, then credit. It is one statement, and moves nothing if the balance of
 * the locked wallet is too low. Throws `insufficient_balance`, `spend_limit_reached`, `project_budget_reached`,
 * `budget_exceeded`, `too_many_sessions`, `account_frozen`.
 */
export async function hold(
  database: Database,
  request: HoldRequest,
  run: RunStatement = runDirectly(database),
): Promise<Balance> {
  return take(database, HOLD, request, run);
}

/** Holds and captures in one statement, for an answer from the cache. It writes the same two entries. */
export async function charge(
  database: Database,
  request: HoldRequest,
  kept?: KeptOutcome,
  run: RunStatement = runDirectly(database),
): Promise<Balance> {
  return take(database, CHARGE, request, run, kept);
}

async function take(
  database: Database,
  statement: Statement,
  request: HoldRequest,
  run: RunStatement,
  kept?: KeptOutcome,
): Promise<Balance> {
  const { project } = request;
  if (project) assertWithin(project, request.tokens);
  const values = [
    request.accountId,
    request.tokens,
    request.now,
    request.requestId,
    request.keyId,
    request.operation,
    request.priceVersion,
    request.cached,
    project?.id ?? null,
    project?.month ?? null,
    project?.budget ?? null,
    ...(statement === HOLD
      ? [
          request.cap?.month ?? null,
          request.instanceId,
          request.deadline,
          request.cap?.keyId ?? null,
          request.budget?.session ?? null,
        ]
      : []),
  ];
  for (let attempt = 0; ; attempt++) {
    const send = () =>
      request.cap || request.budget || kept
        ? takeTogether(database, statement, values, request, kept)
        : run<WalletRow>(statement, values, request.accountId);
    const moved = await untilKnown(async (isRepeat) => {
      if (!isRepeat) return send();
      // If the first attempt succeeded, the second finds its entry, or too low a balance or budget.
      const again = await send().catch((error: unknown) => {
        if (!isWrittenAlready(error) && !isBeyondBudget(error)) throw error;
      });
      return again ?? readAfter(database, request.requestId, "hold");
    }).catch(async (error: unknown) => {
      if (project && isBeyondBudget(error)) throw await beyondBudget(database, project, request.tokens);
      throw error;
    });
    if (moved) return toBalance(moved);
    await explain(database, request, attempt);
  }
}

/**
 * Writes the movement, the cap, the budget and the outcome in one transaction. Locks the wallet first, as a
 * settlement does.
 */
async function takeTogether(
  database: Database,
  { name, text }: Statement,
  values: unknown[],
  request: HoldRequest,
  kept: KeptOutcome | undefined,
): Promise<WalletRow | undefined> {
  const client = await database.pool.connect();
  try {
    await client.query("begin");
    const moved = (await client.query<WalletRow>({ name, text, values })).rows[0];
    if (moved && request.cap) await spend(client, request.tokens, request.cap);
    if (moved && request.budget) await spendOfSession(client, request, request.budget);
    if (moved && kept) await keep(client, request.requestId, kept);
    await client.query(moved ? "commit" : "rollback");
    return moved;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

/**
 * Stores the outcome. Throws `idempotency_conflict` if the key now belongs to another call; this call then
 * has no effect.
 */
async function keep(client: PoolClient, requestId: string, kept: KeptOutcome): Promise<void> {
  const done = await client.query(
    "update idempotency set outcome = $3 where account_id = $1 and key = $2 and request_id = $4",
    [kept.accountId, kept.key, kept.outcome, requestId],
  );
  if (done.rowCount === 0) throw new Failure("idempotency_conflict");
}

/** A request has one hold, and one entry of each kind. */
function isWrittenAlready(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return code === "23505" && (constraint === "entry_once_a_request" || constraint === "hold_pkey");
}

/** Throws the reason why nothing moved. Returns if the reason is gone, so that the caller can try again. */
async function explain(database: Database, request: HoldRequest, attempt: number): Promise<void> {
  const found = await database.pool.query<{
    balance: number;
    frozen: boolean;
    at: Date;
    is_trial_over: boolean;
    is_package_over: boolean | null;
  }>(
    `select trial + paid + credit as balance, frozen, at,
            trial > 0 and trial_expires_at <= at as is_trial_over, package_ends_at <= at as is_package_over
     from wallet cross join lateral (select greatest(touched_at, $2) as at) moment where account_id = $1`,
    [request.accountId, request.now],
  );
  const wallet = found.rows[0];
  if (!wallet) throw new Error(`The account ${request.accountId} has no wallet.`);
  if (wallet.frozen) throw new Failure("account_frozen");
  if (wallet.is_trial_over) return expireTrial(database, request.accountId, wallet.at);
  if (wallet.is_package_over) return expirePackagesOf(database, request.accountId, wallet.at);
  // A hold was voided in between, and the balance is high enough now.
  if (wallet.balance >= request.tokens && attempt < 3) return;
  throw new Failure("insufficient_balance", {
    required: request.tokens,
    balance: wallet.balance,
    shortfall: Math.max(0, request.tokens - wallet.balance),
  });
}

/**
 * Takes trial tokens first, then paid ones, then credit. In SET, names on the right are values before the
 * update.
 */
const TAKE = `
  part_trial = least(trial, $2),
  part_paid = least(paid, $2 - least(trial, $2)),
  part_credit = $2 - least(trial, $2) - least(paid, $2 - least(trial, $2)),
  trial = trial - least(trial, $2),
  paid = paid - least(paid, $2 - least(trial, $2)),
  credit = credit - ($2 - least(trial, $2) - least(paid, $2 - least(trial, $2))),
  touched_at = greatest(touched_at, $3)`;

/** The time of a movement is never before that of the wallet's last one, so what has ended by then is over. */
const IF_IT_SUFFICES = `
  account_id = $1 and trial + paid + credit >= $2 and not frozen
  and (trial = 0 or trial_expires_at is null or trial_expires_at > greatest(touched_at, $3))
  and (package_ends_at is null or package_ends_at > greatest(touched_at, $3))`;

const TAKE_TYPES = [
  ...["text", "bigint", "timestamptz", "text", "text", "text", "int", "boolean"],
  ...["text", "text", "bigint"],
];

/** Counts towards the project's budget, whose constraint undoes the whole statement beyond it. */
const COUNT_PROJECT = `
  insert into project_spend as s (project_id, month, tokens, budget)
  select $9::text, $10::text, $2, $11::bigint from moved where $9 is not null
  on conflict (project_id, month) do update set tokens = s.tokens + excluded.tokens, budget = excluded.budget`;

const HOLD: Statement = {
  name: "ledger-hold",
  types: [...TAKE_TYPES, "text", "bigint", "timestamptz", "text", "text"],
  text: `
with input as (select $2::bigint, $3::timestamptz),
moved as (
  update wallet set ${TAKE}, held = held + $2, seq = seq + 1
  where ${IF_IT_SUFFICES}
  returning *
), holding as (
  insert into hold (request_id, account_id, key_id, operation, price_version, cached,
                    trial, paid, credit, tokens, project_id, project_month, spend_month, instance_id, deadline,
                    spend_key, session)
  select $4, $1, $5, $6, $7, $8, part_trial, part_paid, part_credit, $2, $9, $10, $12, $13, $14, $15, $16 from moved
), counted as (${COUNT_PROJECT}
), written as (
  insert into entry (account_id, seq, at, kind, request_id, operation, key_id, price_version, cached,
                     trial, paid, credit, held, balance_after, actor, note)
  select $1, seq, touched_at, 'hold', $4, $6, $5, $7, $8,
         -part_trial, -part_paid, -part_credit, $2, trial + paid + credit, $5, 'call' from moved
)
select trial + paid + credit as balance, trial from moved`,
};

const CHARGE: Statement = {
  name: "ledger-charge",
  types: TAKE_TYPES,
  text: `
with input as (select $2::bigint, $3::timestamptz),
moved as (
  update wallet set ${TAKE}, seq = seq + 2
  where ${IF_IT_SUFFICES}
  returning *
), counted as (${COUNT_PROJECT}
), written as (
  insert into entry (account_id, seq, at, kind, request_id, operation, key_id, price_version, cached,
                     trial, paid, credit, held, earnings, balance_after, actor, note)
  select $1, seq - 1, touched_at, 'hold', $4::text, $6::text, $5::text, $7::int, $8::boolean,
         -part_trial, -part_paid, -part_credit, $2, 0, trial + paid + credit, $5, 'call' from moved
  union all
  select $1, seq, touched_at, 'capture', $4, $6, $5, $7, $8,
         0, 0, 0, -$2, $2, trial + paid + credit, $5, 'call' from moved
)
select trial + paid + credit as balance, trial from moved`,
};
