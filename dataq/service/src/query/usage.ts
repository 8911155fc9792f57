import { chinaOffset } from "@dataq/contract";
import type { Sent, UsageGroup, usageRow } from "@dataq/contract/wire";
import type { Database, Queries } from "../database/database.ts";
import { eachRow } from "../database/each-row.ts";
import { entryChanges, requestChanges } from "./usage-sums.ts";

type UsageRow = Sent<typeof usageRow>;

/** Days of a calendar, `from` and `to` included. */
export interface UsageRange {
  readonly from: string;
  readonly to: string;
  readonly groups: readonly UsageGroup[];
  /** The calendar's distance from UTC, a multiple of 15 minutes. */
  readonly offset: string;
}

/** Sums over the calls of an account, in days of China's calendar. */
export function readUsage(
  database: Pick<Database, "reads">,
  accountId: string,
  range: Omit<UsageRange, "offset">,
): Promise<UsageRow[]> {
  return sumUsage(database.reads.recent, accountId, { ...range, offset: chinaOffset });
}

/**
 * Sums over the calls of an account. `tokens` is the sum of the ledger entries of these calls, with the opposite sign. A
 * call belongs to the day on which it was held, or answered if nothing was held.
 *
 * What is not yet in the sums of quarter hours is added in the same statement, so the result is exact at any time.
 */
export async function sumUsage(
  queries: Queries,
  accountId: string,
  { from, to, groups, offset }: UsageRange,
): Promise<UsageRow[]> {
  const names = groups.join(", ");
  const byProject = groups.includes("project");
  const byCode = groups.includes("code");
  const found = await queries.query<UsageRow>(
    `with ${entryChanges("$1", "null")}, line as (
       select id, at, account_id, key_id, operation, status from request where account_id = $1 and is_held is null
     ), ${requestChanges}, bounds as (
       select $2::date::timestamp at time zone 'UTC' - $4::interval as low,
              ($3::date + 1)::timestamp at time zone 'UTC' - $4::interval as high
     ), quarter as (
       select at, operation, key_id, calls, billed, cached, failed, tokens from usage_quarter, bounds
       where account_id = $1 and at >= low and at < high
       union all
       select at, operation, key_id, calls, billed, cached, failed, tokens
       from (select at, operation, key_id, calls, billed, cached, failed, tokens from entry_change
             union all select at, operation, key_id, calls, billed, cached, failed, tokens from request_change) change, bounds
       where at >= low and at < high
     )${byCode ? `, ${failures}` : ""}, named as (
       select *, to_char(at at time zone 'UTC' + $4::interval, 'YYYY-MM-DD') as day, key_id as key${
         byProject ? ", (select project_id from api_key k where k.id = key_id) as project" : ""
       }
       from ${byCode ? "coded" : "quarter"}
     )
     select ${names ? `${names},` : ""} coalesce(sum(calls), 0)::int as calls, coalesce(sum(billed), 0)::int as billed_calls,
            coalesce(sum(cached), 0)::int as cached_calls, coalesce(sum(failed), 0)::int as failed_calls,
            coalesce(sum(tokens), 0)::bigint as tokens
     from named ${names ? `group by ${names} having sum(calls) <> 0 order by ${names}` : ""}`,
    [accountId, from, to, offset],
  );
  return found.rows;
}

/**
 * Defines `coded`: the rows of `quarter` with the code of the error. The sums of quarter hours do not have it, so each
 * failed call is read from the log and taken out of the calls without a code.
 */
const failures = `
failure as (
  select coalesce(h.at, r.at) as at, case when h.at is null then r.operation else h.operation end as operation,
         case when h.at is null then r.key_id else h.key_id end as key_id, coalesce(r.code, r.status::text) as code,
         coalesce(h.tokens > 0, false)::int as billed, coalesce(h.cached and h.tokens > 0, false)::int as cached,
         coalesce(h.tokens, 0) as tokens
  from bounds, request r
  -- Looked up call by call: most failures hold nothing.
  cross join lateral (
    select max(at) filter (where kind = 'hold') as at, max(operation) filter (where kind = 'hold') as operation,
           max(key_id) filter (where kind = 'hold') as key_id, bool_or(cached) filter (where kind = 'hold') as cached,
           -sum(tokens) as tokens
    from entry e where e.request_id = r.id and e.account_id = $1 ${eachRow}) h
  -- A call is logged when it was answered, and counts when it was held: at most a day before or after.
  where r.account_id = $1 and r.status >= 400 and r.at >= low - interval '1 day' and r.at < high + interval '1 day'
), coded as (
  select at, operation, key_id, null as code, calls, billed, cached, failed, tokens from quarter
  union all
  select f.at, f.operation, f.key_id, sign.code, n, n * billed, n * cached, n, n * tokens
  from failure f, bounds, lateral (values (f.code, 1), (null, -1)) as sign(code, n)
  where f.at >= low and f.at < high
)`;
