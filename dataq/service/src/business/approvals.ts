import { createHash } from "node:crypto";
import { Failure, tokensPerCny } from "@dataq/contract";
import type { ApprovalMethod, ApprovalState } from "@dataq/contract/wire";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { lockTransaction } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";

/** A large sum that one operator asked for. */
export interface Approval {
  readonly id: string;
  readonly method: ApprovalMethod;
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly accountId: string;
  readonly fen: number;
  readonly state: ApprovalState;
  readonly askedBy: string;
  readonly askedAt: Date;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
}

const TOKENS_PER_FEN = tokensPerCny / 100;
const DAY_MS = 86_400_000;
/** How long a sum waits for the second person. */
const LIFE_MS = 7 * DAY_MS;
/** No request lasts longer, so a sum in flight that is older belongs to a process that was killed. */
const FLIGHT_MS = 120_000;

/**
 * Lets a sum pass that is small, also together with what was moved by hand for the same account in the day before, or
 * that another person asked for in the same words. Otherwise it is stored, and throws `approval_needed`. Throws
 * `person_required` for a large sum of a key.
 * `target` is the account, payment or call that the sum concerns, or `vouchers` or `accounts` for what no account
 * has yet; all of a day count together. Returns the ID of the sum, which counts as moved until `landSum`.
 */
export async function passByTwo(
  database: Database,
  wanted: {
    readonly method: ApprovalMethod;
    readonly path: string;
    readonly body: Record<string, unknown>;
    readonly target: string;
    readonly fen: number;
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
  const decided = await inTransaction(database, async (transaction) => {
    const named = await transaction.query<{ account: string }>(
      `select coalesce((select account_id from payment where id = $1),
                       (select account_id from entry where request_id = $1 limit 1), $1) as account`,
      [target],
    );
    const { account } = named.rows[0]!;
    // Two sums at once for one account must see each other, whatever they are for.
    await lockTransaction(transaction, "approval", account);
    const found = await transaction.query<{ moved: number; flying: number }>(
      `select coalesce((${movedBy(target)}), 0)::float8 as moved,
              coalesce((select sum(fen) from sum_in_flight where account_id = $1 and begun_at > $3), 0)::float8 as flying
       where $2::timestamptz is not null`,
      [account, since, new Date(author.now.getTime() - FLIGHT_MS)],
    );
    const { moved, flying } = found.rows[0]!;
    const pass = async () => {
      const id = makeIdentifier("sum", author.now);
      await transaction.query(
        "insert into sum_in_flight (id, account_id, fen, begun_at) values ($1, $2, $3, $4)",
        [id, account, wanted.fen, author.now],
      );
      return { passed: id };
    };
    const fen = wanted.fen + flying + moved / TOKENS_PER_FEN;
    if (fen <= limitFen) return pass();
    if (!wanted.isPerson) throw new Failure("person_required", { limit: limitFen / 100 });
    const given = await transaction.query<{ id: string }>(
      `update approval set state = 'approved', decided_by = $2, decided_at = $3
       where sha256 = $1 and state = 'waiting' and asked_by <> $2 and asked_at > $4 returning id`,
      [sha256, author.actor, author.now, new Date(author.now.getTime() - LIFE_MS)],
    );
    if (given.rows[0]) {
      await writeAudit(transaction, author, "approval.give", given.rows[0].id, null, { path });
      return pass();
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

/** Ends a sum that was let through: it is in the ledger now, or was refused. */
export async function landSum(database: Database, id: string, now: Date): Promise<void> {
  await database.query("delete from sum_in_flight where id = $1 or begun_at < $2", [
    id,
    new Date(now.getTime() - FLIGHT_MS),
  ]);
}

/** The tokens that were moved by hand since $2, as SQL. Raising a credit line is a movement, lowering it is none. */
function movedBy(target: string): string {
  if (target === "vouchers") return "select sum(tokens) from voucher where created_at > $2";
  if (target === "accounts")
    return "select sum(tokens) from entry where at > $2 and kind = 'topup' and reference like 'opening:%'";
  return `select sum(abs(tokens)) from entry where account_id = $1 and at > $2 and credit_line <= 0
    and (kind in ('adjust', 'reverse', 'refund') or kind = 'topup' and reference like 'manual:%')`;
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
