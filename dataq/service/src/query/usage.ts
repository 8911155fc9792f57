import { chinaOffset } from "@dataq/contract";
import type { Sent, UsageGroup, usageRow } from "@dataq/contract/wire";
import type { Database, Queries } from "../database/database.ts";
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
     ), named as (
       select *, to_char(at at time zone 'UTC' + $4::interval, 'YYYY-MM-DD') as day, key_id as key from quarter
     )
     select ${names ? `${names},` : ""} coalesce(sum(calls), 0)::int as calls, coalesce(sum(billed), 0)::int as billed_calls,
            coalesce(sum(cached), 0)::int as cached_calls, coalesce(sum(failed), 0)::int as failed_calls,
            coalesce(sum(tokens), 0)::bigint as tokens
     from named ${names ? `group by ${names} having sum(calls) <> 0 order by ${names}` : ""}`,
    [accountId, from, to, offset],
  );
  return found.rows;
}
