import { instantInChina } from "@dataq/contract";
import type { StatementLine } from "@dataq/contract/wire";
import type { Queries } from "../database/database.ts";

export interface Statement {
  /** YYYY-MM, in China. */
  readonly month: string;
  readonly from: Date;
  readonly to: Date;
  readonly opening: number;
  readonly lines: readonly Line[];
  readonly closing: number;
  /** The lines of calls by project of their keys; empty for an account that never had a project. */
  readonly projects: readonly ProjectLine[];
}

interface ProjectLine {
  readonly project_id: string | null;
  readonly name: string | null;
  readonly count: number;
  readonly tokens: number;
}

interface Line {
  readonly kind: StatementLine;
  readonly operation: string | null;
  /** Null for lines that sum up several entries. */
  readonly at: Date | null;
  readonly note: string | null;
  readonly count: number;
  readonly tokens: number;
}

/**
 * The statement of a month of China's calendar: calls by operation, and every other entry by itself. The opening
 * balance and all lines add up to the closing balance, which is the ledger's own.
 */
export async function readStatement(queries: Queries, accountId: string, month: string): Promise<Statement> {
  const { from, to } = rangeOf(month);
  const balance = async (before: Date) => {
    const found = await queries.query<{ balance: number }>(
      "select balance_after as balance from entry where account_id = $1 and at < $2 order by seq desc limit 1",
      [accountId, before],
    );
    return found.rows[0]?.balance ?? 0;
  };
  // Entries of a call may be in two months: each month has the tokens that moved in it.
  const found = await queries.query<Line>(
    `select case when request_id is null then kind else 'calls' end as kind, operation,
            case when request_id is null then at end as at, case when request_id is null then note end as note,
            (count(*) filter (where request_id is null or kind = 'capture'))::int as count, sum(tokens)::bigint as tokens
     from entry where account_id = $1 and at >= $2 and at < $3
     group by 1, 2, 3, 4, case when request_id is null then seq end
     order by min(seq)`,
    [accountId, from, to],
  );
  const projects = await queries.query<ProjectLine>(
    `select k.project_id, p.name, (count(*) filter (where kind = 'capture'))::int as count, sum(tokens)::bigint as tokens
     from entry e left join api_key k on k.id = e.key_id left join project p on p.id = k.project_id
     where e.account_id = $1 and e.at >= $2 and e.at < $3 and e.request_id is not null
       and exists (select from project where account_id = $1)
     group by 1, 2 order by sum(tokens), 1`,
    [accountId, from, to],
  );
  return {
    month,
    from,
    to,
    opening: await balance(from),
    lines: found.rows,
    closing: await balance(to),
    projects: projects.rows,
  };
}

function rangeOf(month: string): { from: Date; to: Date } {
  const [year, number] = month.split("-").map(Number) as [number, number];
  const next = number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, "0")}`;
  const start = (name: string) => new Date(instantInChina(`${name}-01`, "00:00:00"));
  return { from: start(month), to: start(next) };
}
