import { createHash } from "node:crypto";
import { Failure } from "@dataq/contract";
import type { ApprovalMethod, ApprovalState } from "@dataq/contract/wire";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { lockTransaction } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";

/** A large sum, or an offer, that one operator asked for. */
export interface Approval {
  readonly id: string;
  readonly method: ApprovalMethod;
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly accountId: string;
  /** Null for an offer: nobody knows what it will come to. */
  readonly fen: number | null;
  readonly state: ApprovalState;
  readonly askedBy: string;
  readonly askedAt: Date;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
}

const DAY_MS = 86_400_000;
/** How long a sum waits for the second person. */
const LIFE_MS = 7 * DAY_MS;
/** What one person moves alone in a day, in all: so often the limit. Otherwise many accounts would get around it. */
const TIMES_ALONE = 10;

/**
 * Lets a sum pass that is small, also together with what one person alone moved for the same account, and what the same
 * person moved alone, in the day before, or that another person asked for in the same words. Otherwise it is stored, and
 * throws `approval_needed`. Throws `person_required` for a large sum of a key.
 * `target` is the account, payment or call that the sum concerns, or `vouchers`, `accounts` or `offers` for what no
 * account has yet; all of a day count together. Returns the ID of the sum, which counts unless `forgetSum` is called.
 */
export async function passByTwo(
  database: Database,
  wanted: {
    readonly method: ApprovalMethod;
    readonly path: string;
    readonly body: Record<string, unknown>;
    readonly target: string;
    /** Null for an offer, which always needs a second person. */
    readonly fen: number | null;
    readonly limitFen: number;
    /** Whether somebody who is signed in asks. A key may have the same owner as the session that approves. */
    readonly isPerson: boolean;
  },
  author: Author,
): Promise<string> {
  const { method, path, body, target, limitFen } = wanted;
  const sha256 = createHash("sha256")
    .update(JSON.stringify([method, path, Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1))]))
    .digest();
  const since = new Date(author.now.getTime() - DAY_MS);
  // Keys count as one person, who may have made them all.
  const person = wanted.isPerson ? author.actor : "keys";
  const decided = await inTransaction(database, async (transaction) => {
    const named = await transaction.query<{ account: string }>(
      `select coalesce((select account_id from payment where id = $1),
                       (select account_id from entry where request_id = $1 limit 1), $1) as account`,
      [target],
    );
    const { account } = named.rows[0]!;
    // Two sums at once for one account, or by one person, must see each other, whatever they are for.
    await lockTransaction(transaction, "approval", account);
    await lockTransaction(transaction, "approval", person);
    await transaction.query("delete from sum_in_flight where begun_at < $1", [since]);
    const found = await transaction.query<{ ofAccount: number; ofPerson: number }>(
      `select coalesce(sum(fen) filter (where account_id = $1), 0)::float8 as "ofAccount",
              coalesce(sum(fen) filter (where person = $2), 0)::float8 as "ofPerson"
       from sum_in_flight where approval_id is null and (account_id = $1 or person = $2)`,
      [account, person],
    );
    const { ofAccount, ofPerson } = found.rows[0]!;
    const pass = async (approvalId: string | null) => {
      const id = makeIdentifier("sum", author.now);
      await transaction.query(
        "insert into sum_in_flight (id, account_id, fen, begun_at, person, approval_id) values ($1, $2, $3, $4, $5, $6)",
        [id, account, wanted.fen ?? 0, author.now, person, approvalId],
      );
      return { passed: id };
    };
    const fen = wanted.fen === null ? null : wanted.fen + ofAccount;
    if (fen !== null && fen <= limitFen && wanted.fen! + ofPerson <= TIMES_ALONE * limitFen)
      return pass(null);
    if (!wanted.isPerson) throw new Failure("person_required", { limit: limitFen / 100 });
    const given = await transaction.query<{ id: string }>(
      `update approval set state = 'approved', decided_by = $2, decided_at = $3
       where sha256 = $1 and state = 'waiting' and asked_by <> $2 and asked_at > $4 returning id`,
      [sha256, author.actor, author.now, new Date(author.now.getTime() - LIFE_MS)],
    );
    if (given.rows[0]) {
      await writeAudit(transaction, author, "approval.give", given.rows[0].id, null, { path });
      return pass(given.rows[0].id);
    }
    await transaction.query("update approval set asked_at = $2 where sha256 = $1 and state = 'waiting'", [
      sha256,
      author.now,
    ]);
    const id = makeIdentifier("apr", author.now);
    const made = await transaction.query<{ id: string }>(
      `insert into approval (id, path, body, sha256, account_id, fen, state, asked_by, asked_at, method)
       values ($1, $2, $3, $4, $5, $6, 'waiting', $7, $8, $9)
       on conflict (sha256) where state = 'waiting' do nothing returning id`,
      [id, path, JSON.stringify(body), sha256, account, fen, author.actor, author.now, method],
    );
    if (made.rows[0]) {
      await writeAudit(transaction, author, "approval.ask", id, null, { path, fen });
      return { asked: id };
    }
    const known = await transaction.query<{ id: string }>(
      "select id from approval where sha256 = $1 and state = 'waiting'",
      [sha256],
    );
    return { asked: known.rows[0]!.id };
  });
  if ("asked" in decided) throw new Failure("approval_needed", { id: decided.asked });
  return decided.passed;
}

/** A sum that was let through was refused afterwards: nothing was moved, and what was approved waits again. */
export async function forgetSum(database: Database, id: string): Promise<void> {
  await database.query(
    `with refused as (delete from sum_in_flight where id = $1 returning approval_id)
     update approval a set state = 'waiting', decided_by = null, decided_at = null from refused
     where a.id = refused.approval_id
       and not exists (select from approval w where w.sha256 = a.sha256 and w.state = 'waiting')`,
    [id],
  );
}

/** Newest first. */
export async function listApprovals(database: Database): Promise<Approval[]> {
  return (await database.query<Approval>(`${SELECT} order by id desc limit 200`)).rows;
}

/** Throws `not_found` unless it waits. */
export async function rejectApproval(database: Database, id: string, author: Author): Promise<Approval> {
  return inTransaction(database, async (transaction) => {
    const changed = await transaction.query(
      "update approval set state = 'rejected', decided_by = $2, decided_at = $3 where id = $1 and state = 'waiting'",
      [id, author.actor, author.now],
    );
    if (changed.rowCount === 0) throw new Failure("not_found", { what: "The waiting approval" });
    await writeAudit(transaction, author, "approval.reject", id, null, null);
    return (await transaction.query<Approval>(`${SELECT} where id = $1`, [id])).rows[0]!;
  });
}

const SELECT = `select id, method, path, body, account_id as "accountId", fen::float8 as fen, state, asked_by as "askedBy",
  asked_at as "askedAt", decided_by as "decidedBy", decided_at as "decidedAt" from approval`;
