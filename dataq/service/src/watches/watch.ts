import { chinaMonth, Failure } from "@dataq/contract";
import type { Account } from "../accounts/account.ts";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database, Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { inTransaction } from "../database/transaction.ts";
import { type AskParts, askQuestion } from "./ask.ts";

export interface Watch {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly monthlyLimit: number;
  readonly spent: number;
  readonly enabled: boolean;
  readonly stoppedReason: string | null;
  readonly lastError: string | null;
  readonly lastAskedAt: Date | null;
  readonly createdAt: Date;
}

export interface WantedWatch {
  readonly name?: string | undefined;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly monthlyLimit: number;
}

export interface WatchChange {
  readonly name?: string | undefined;
  readonly monthlyLimit?: number | undefined;
  readonly enabled?: boolean | undefined;
}

/** An account may have this many watches. */
export const mostWatches = 20;

export async function listWatches(database: Database, accountId: string, now: Date): Promise<Watch[]> {
  return (
    await database.query<Watch>(`${SELECT} where w.account_id = $2 order by w.id`, [month(now), accountId])
  ).rows;
}

/** Asks the question for the first time, at its price. Later answers do not report its records as new. */
export async function createWatch(
  parts: AskParts,
  account: Pick<Account, "id" | "role" | "tier">,
  wanted: WantedWatch,
  author: Author,
): Promise<{ watch: Watch; records: number; tokens: number }> {
  const { database } = parts;
  const tooMany = new Failure("too_many", { what: "watches", limit: mostWatches });
  if ((await countWatches(database, account.id)) >= mostWatches) throw tooMany;
  const id = makeIdentifier("wch", author.now);
  const { operation, params, monthlyLimit } = wanted;
  const answer = await askQuestion(parts, account, { id, operation, params, monthlyLimit }, id);
  const watch = await inTransaction(database, async (transaction) => {
    // Locks the account, so that simultaneous requests cannot exceed the limit together.
    await transaction.query("select from account where id = $1 for update", [account.id]);
    if ((await countWatches(transaction, account.id)) >= mostWatches) throw tooMany;
    await transaction.query(
      `insert into watch (id, account_id, name, operation, params, monthly_limit, seen, last_asked_at, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
      [
        id,
        account.id,
        wanted.name ?? "",
        operation,
        JSON.stringify(params),
        monthlyLimit,
        answer.records.map((record) => record.id),
        author.now,
      ],
    );
    const made = await readWatch(transaction, account.id, id, author.now);
    await writeAudit(transaction, author, "watch.create", id, null, describe(made));
    return made;
  });
  return { watch, records: answer.records.length, tokens: answer.tokens };
}

export async function changeWatch(
  database: Database,
  accountId: string,
  id: string,
  wanted: WatchChange,
  author: Author,
): Promise<Watch> {
  return inTransaction(database, async (transaction) => {
    const before = await readWatch(transaction, accountId, id, author.now);
    await transaction.query(
      `update watch set name = $2, monthly_limit = $3, enabled = $4,
              stopped_reason = case when $4 then null else stopped_reason end,
              last_error = case when $4 then null else last_error end
       where id = $1`,
      [
        id,
        wanted.name ?? before.name,
        wanted.monthlyLimit ?? before.monthlyLimit,
        wanted.enabled ?? before.enabled,
      ],
    );
    const after = await readWatch(transaction, accountId, id, author.now);
    await writeAudit(transaction, author, "watch.change", id, describe(before), describe(after));
    return after;
  });
}

export async function removeWatch(
  database: Database,
  accountId: string,
  id: string,
  author: Author,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const before = await readWatch(transaction, accountId, id, author.now);
    await transaction.query("delete from watch where id = $1", [id]);
    await writeAudit(transaction, author, "watch.delete", id, describe(before), null);
  });
}

async function readWatch(queries: Queries, accountId: string, id: string, now: Date): Promise<Watch> {
  const found = await queries.query<Watch>(
    `${SELECT} where w.account_id = $2 and w.id = $3 for update of w`,
    [month(now), accountId, id],
  );
  if (!found.rows[0]) throw new Failure("not_found", { what: `The watch ${id}` });
  return found.rows[0];
}

async function countWatches(queries: Queries, accountId: string): Promise<number> {
  const found = await queries.query<{ count: number }>("select count(*) from watch where account_id = $1", [
    accountId,
  ]);
  return found.rows[0]!.count;
}

function month(now: Date): string {
  return chinaMonth(now);
}

const SELECT = `select w.id, w.account_id as "accountId", w.name, w.operation, w.params,
  w.monthly_limit as "monthlyLimit", coalesce(s.tokens, 0) as spent, w.enabled, w.stopped_reason as "stoppedReason",
  w.last_error as "lastError", w.last_asked_at as "lastAskedAt", w.created_at as "createdAt"
  from watch w left join key_spend s on s.key_id = w.id and s.month = $1`;

/** Without the question, because the audit log must not contain query texts. */
function describe({ operation, monthlyLimit, enabled }: Watch): object {
  return { operation, monthly_limit: monthlyLimit, enabled };
}
