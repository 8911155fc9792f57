import { chinaMonth, Failure } from "@dataq/contract";
import type { Database, Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import type { Transaction } from "../database/transaction.ts";
import { type Author, writeAudit } from "./audit.ts";

/** Keys of an account that share a monthly budget, and what they have spent of it this month. */
export interface ProjectState {
  readonly id: string;
  readonly name: string;
  readonly monthlyBudget: number | null;
  readonly alertPercent: number;
  readonly createdAt: Date;
  readonly spent: number;
  /** Keys that work. */
  readonly keys: number;
}

export interface ProjectSettings {
  readonly name: string;
  readonly monthlyBudget: number | null;
  readonly alertPercent: number;
}

/** Projects that an account may have. */
const MOST = 200;

export async function createProject(
  transaction: Transaction,
  accountId: string,
  { name, monthlyBudget, alertPercent }: ProjectSettings,
  author: Author,
): Promise<ProjectState> {
  await transaction.query("select from account where id = $1 for update", [accountId]);
  const known = await transaction.query<{ count: number }>(
    "select count(*)::int as count from project where account_id = $1 and deleted_at is null",
    [accountId],
  );
  if (known.rows[0]!.count >= MOST) throw new Failure("too_many", { what: "projects", limit: MOST });
  const id = makeIdentifier("prj", author.now);
  await transaction.query(
    `insert into project (id, account_id, name, monthly_budget, alert_percent, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [id, accountId, name, monthlyBudget, alertPercent, author.now],
  );
  await writeAudit(transaction, author, "project.create", id, null, { name, monthlyBudget, alertPercent });
  return find(transaction, accountId, id, author.now);
}

export async function changeProject(
  transaction: Transaction,
  accountId: string,
  id: string,
  change: { readonly [Name in keyof ProjectSettings]: ProjectSettings[Name] | undefined },
  author: Author,
): Promise<ProjectState> {
  const before = await lock(transaction, accountId, id);
  const after = {
    name: change.name ?? before.name,
    monthlyBudget: change.monthlyBudget === undefined ? before.monthlyBudget : change.monthlyBudget,
    alertPercent: change.alertPercent ?? before.alertPercent,
  };
  await transaction.query(
    "update project set name = $2, monthly_budget = $3, alert_percent = $4 where id = $1",
    [id, after.name, after.monthlyBudget, after.alertPercent],
  );
  await writeAudit(transaction, author, "project.change", id, { ...before }, after);
  return find(transaction, accountId, id, author.now);
}

/** Ends a project. Its row stays, so that past usage has its name. */
export async function deleteProject(
  transaction: Transaction,
  accountId: string,
  id: string,
  author: Author,
): Promise<void> {
  const { name } = await lock(transaction, accountId, id);
  const { keys } = await find(transaction, accountId, id, author.now);
  if (keys > 0) throw new Failure("project_in_use", { project: name, keys });
  await transaction.query("update project set deleted_at = $2 where id = $1", [id, author.now]);
  await writeAudit(transaction, author, "project.delete", id, { name }, null);
}

export async function listProjects(
  { pool }: Pick<Database, "pool">,
  accountId: string,
  now: Date,
): Promise<ProjectState[]> {
  return read(pool, accountId, null, now);
}

/** Throws `not_found` unless keys may be made in the project. It stays as it is until the transaction ends. */
export async function assertProject(transaction: Transaction, accountId: string, id: string): Promise<void> {
  await lock(transaction, accountId, id);
}

async function lock(transaction: Transaction, accountId: string, id: string): Promise<ProjectSettings> {
  const found = await transaction.query<ProjectSettings>(
    `select name, monthly_budget as "monthlyBudget", alert_percent as "alertPercent" from project
     where account_id = $1 and id = $2 and deleted_at is null for update`,
    [accountId, id],
  );
  if (!found.rows[0]) throw missing(id);
  return found.rows[0];
}

async function find(queries: Queries, accountId: string, id: string, now: Date): Promise<ProjectState> {
  const [found] = await read(queries, accountId, id, now);
  if (!found) throw missing(id);
  return found;
}

function missing(id: string): Failure {
  return new Failure("not_found", { what: `The project ${id.slice(0, 64)}` });
}

async function read(
  queries: Queries,
  accountId: string,
  id: string | null,
  now: Date,
): Promise<ProjectState[]> {
  const found = await queries.query<ProjectState>(
    `select p.id, p.name, p.monthly_budget as "monthlyBudget", p.alert_percent as "alertPercent",
            p.created_at as "createdAt", coalesce(s.tokens, 0)::bigint as spent,
            (select count(*) from api_key k where k.project_id = p.id and (k.revoked_at is null or k.revoked_at > $3)
               and (k.expires_at is null or k.expires_at > $3))::int as keys
     from project p left join project_spend s on s.project_id = p.id and s.month = $4
     where p.account_id = $1 and p.deleted_at is null and ($2::text is null or p.id = $2) order by p.id`,
    [accountId, id, now, chinaMonth(now)],
  );
  return found.rows;
}
