import type { Database } from "../database/database.ts";
import { eachRow } from "../database/each-row.ts";
import { lockTransaction } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";

/** Entries or lines that are summed in one transaction. */
const PIECE = 10_000;
/** More entries than an account ever has. */
const MOST_ENTRIES = 2 ** 52;
/** Transactions of one run. The rest of a long past waits for the next run, so that other steps are not delayed. */
const MOST_PIECES = 20;

/**
 * Sums of calls for each quarter hour, account, operation and key, so that a page of usage does not read every call. All
 * distances of time zones from UTC are multiples of a quarter hour.
 *
 * They are kept by account up to a number of its ledger (`usage_position`), because these numbers have no gaps and come in
 * the order of commits; later entries are added when usage is read. A line of the request log is counted when it is
 * written, and `is_held` then says whether its hold was known; null means that it is not counted yet, because an older
 * version of the service wrote it.
 *
 * Lines are written under a shared lock and entries are summed under the exclusive one: so whichever comes second, the
 * line or the summing of its hold, sees the other.
 */
const QUARTER = (at: string) => `date_bin('15 minutes', ${at}, timestamptz 'epoch')`;

/**
 * Defines `entry_change`: what the entries of an account after its position change in the sums. Entries of one call
 * count in the quarter hour of its hold.
 */
export const entryChanges = (accountId: string, limit: string) => `
known as (
  select coalesce((select seq from usage_position where account_id = ${accountId}), 0) as seq
), fresh as (
  select e.seq, e.request_id from known k cross join lateral (
    -- The upper bound excludes nothing. Without one the planner expects a third of the account's entries and reads all.
    select seq, request_id from entry
    where account_id = ${accountId} and seq > k.seq and seq < k.seq + ${MOST_ENTRIES} order by seq limit ${limit}) e
), reached as (
  select max(seq) as seq, count(*)::int as entries from fresh
), called as (
  select e.request_id as id, max(e.at) filter (where e.kind = 'hold') as at,
         max(e.operation) filter (where e.kind = 'hold') as operation, max(e.key_id) filter (where e.kind = 'hold') as key_id,
         bool_or(e.cached) filter (where e.kind = 'hold') as cached,
         coalesce(bool_or(e.seq > k.seq) filter (where e.kind = 'hold'), false) as is_new,
         coalesce(-sum(e.tokens) filter (where e.seq <= k.seq), 0) as before, -sum(e.tokens) as after
  from (select distinct request_id from fresh where request_id is not null) f, known k, reached r
  -- Looked up call by call: the planner does not know how many are new.
  cross join lateral (
    select * from entry where request_id = f.request_id and account_id = ${accountId} and seq <= r.seq ${eachRow}) e
  group by e.request_id
), late as (
  -- Lines that were counted as calls without a hold.
  select r.id, r.at, r.operation, r.key_id, (r.status >= 400)::int as failed,
         c.at as held_at, c.operation as held_operation, c.key_id as held_key_id
  from called c cross join lateral (
    select * from request where id = c.id and account_id = ${accountId} and is_held = false ${eachRow}) r
  where c.is_new
), entry_change as (
  select ${QUARTER("at")} as at, operation, key_id, is_new::int as calls, (after > 0)::int - (before > 0)::int as billed,
         (cached and after > 0)::int - (cached and before > 0)::int as cached, 0 as failed, after - before as tokens
  from called where at is not null
  union all select ${QUARTER("at")}, operation, key_id, -1, 0, 0, -failed, 0 from late
  union all select ${QUARTER("held_at")}, held_operation, held_key_id, 0, 0, 0, failed, 0 from late
)`;

/** Defines `request_change`: what the lines in `line` add to the sums. A call with a hold is counted by its entries. */
export const requestChanges = `
request_change as (
  select ${QUARTER("coalesce(h.at, l.at)")} as at, case when h.at is null then l.operation else h.operation end as operation,
         case when h.at is null then l.key_id else h.key_id end as key_id, (h.at is null)::int as calls, 0 as billed,
         0 as cached, (l.status >= 400)::int as failed, 0 as tokens, l.account_id
  from line l left join entry h on h.request_id = l.id and h.kind = 'hold' and h.account_id = l.account_id
)`;

const addTo = (change: string, accountId: string) => `
insert into usage_quarter as u (account_id, at, operation, key_id, calls, billed, cached, failed, tokens)
select ${accountId}, at, operation, key_id, sum(calls), sum(billed), sum(cached), sum(failed), sum(tokens)
from ${change} group by 1, 2, 3, 4
having (sum(calls), sum(billed), sum(cached), sum(failed), sum(tokens)) <> (0, 0, 0, 0, 0) order by 1, 2, 3, 4
on conflict (account_id, at, operation, key_id) do update set calls = u.calls + excluded.calls,
  billed = u.billed + excluded.billed, cached = u.cached + excluded.cached, failed = u.failed + excluded.failed,
  tokens = u.tokens + excluded.tokens`;

const COUNT_ENTRIES = `
with ${entryChanges("$1", "$2")}, marked as (
  update request set is_held = true where id in (select id from late)
), added as (${addTo("entry_change", "$1")}
), moved as (
  insert into usage_position (account_id, seq) select $1, seq from reached where seq is not null
  on conflict (account_id) do update set seq = excluded.seq
) select entries from reached`;

/** Whether the hold of a line of the request log is known. */
export const isHeld = (id: string, accountId: string) =>
  `exists (select from entry h where h.request_id = ${id} and h.kind = 'hold' and h.account_id = ${accountId})`;

/** Counts the lines that `write`, a statement on `request`, returns. Runs under the lock `usage`. */
export const countLines = (write: string) => `
with line as (${write} returning id, at, account_id, key_id, operation, status), ${requestChanges}
${addTo("request_change", "account_id")}`;

const COUNT_OLDER_LINES = countLines(
  `update request set is_held = ${isHeld("request.id", "request.account_id")}
   where id in (select id from request where is_held is null limit ${PIECE})`,
);

/** Sums what is new, of all accounts or of those with entries from `since` on. Returns false if there is more. */
export async function sumNewUsage(database: Database, since?: Date, piece = PIECE): Promise<boolean> {
  const behind = await database.pool.query<{ account_id: string }>(
    `select account_id from wallet w left join usage_position p using (account_id) where w.seq > coalesce(p.seq, 0)
     ${since ? "and account_id in (select account_id from entry where at >= $1)" : ""}`,
    since && [since],
  );
  const todo = [
    ...behind.rows.map(
      ({ account_id }) =>
        () =>
          sumPiece(database, account_id, piece),
    ),
    () => countOlderLines(database),
  ];
  for (let pieces = 0; todo.length > 0; pieces++) {
    if (pieces - behind.rows.length >= MOST_PIECES) return false;
    if ((await todo[0]!()) < piece) todo.shift();
  }
  return true;
}

/** Returns the number of entries that were summed. */
async function sumPiece(database: Database, accountId: string, piece: number): Promise<number> {
  return inTransaction(database, async (transaction) => {
    await lockTransaction(transaction, "usage");
    const found = await transaction.query<{ entries: number }>({
      name: "usage-entries",
      text: COUNT_ENTRIES,
      values: [accountId, piece],
    });
    return found.rows[0]!.entries;
  });
}

async function countOlderLines(database: Database): Promise<number> {
  return inTransaction(database, async (transaction) => {
    await lockTransaction(transaction, "usage");
    await transaction.query(COUNT_OLDER_LINES);
    const left = await transaction.query("select from request where is_held is null limit 1");
    return left.rowCount === 0 ? 0 : PIECE;
  });
}
