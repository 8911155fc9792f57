import { chinaOffset } from "@dataq/contract";
import type { Sent, UsageGroup, usageRow } from "@dataq/contract/wire";
import type { Database } from "../database/database.ts";

type UsageRow = Sent<typeof usageRow>;

/**
 * Sums over calls. `tokens` is the sum of the ledger entries of these calls, with the opposite sign. From `from` to
 * `to`, both included, in days of China's calendar. A call belongs to the day on which it was held, or answered if
 * nothing was held.
 */
export async function readUsage(
  database: Database,
  accountId: string,
  range: { readonly from: string; readonly to: string; readonly groups: readonly UsageGroup[] },
): Promise<UsageRow[]> {
  const names = range.groups.join(", ");
  const found = await database.pool.query<UsageRow>(
    `with bounds as (
       select $2::date::timestamp at time zone 'UTC' - $4::interval as low,
              ($3::date + 1)::timestamp at time zone 'UTC' - $4::interval as high
     ), money as (
       select h.request_id as id, h.at, h.operation, h.key_id, h.cached,
              (select -sum(tokens) from entry e where e.request_id = h.request_id) as tokens
       from entry h, bounds where h.account_id = $1 and h.kind = 'hold' and h.at >= low and h.at < high
     ), calls as (
       select id, r.at, r.operation, r.key_id, r.cached, r.status from request r, bounds
       where r.account_id = $1 and r.at >= low - interval '1 hour' and r.at < high + interval '1 hour'
     ), joined as (
       select coalesce(m.at, c.at) as at, coalesce(m.operation, c.operation) as operation,
              coalesce(m.key_id, c.key_id) as key, coalesce(m.cached, false) as cached, coalesce(m.tokens, 0) as tokens,
              c.status >= 400 as is_failed, m.id is not null as is_held, c.id as call_id
       from money m full join calls c using (id)
     ), counted as (
       select to_char(at at time zone 'UTC' + $4::interval, 'YYYY-MM-DD') as day, operation, key, cached, tokens, is_failed
       from joined, bounds where at >= low and at < high
         -- A call of the edge hours whose hold is on the other day is counted there.
         and (is_held or not exists (select from entry e where e.request_id = call_id))
     )
     select ${names ? `${names},` : ""} count(*)::int as calls, (count(*) filter (where tokens > 0))::int as billed_calls,
            (count(*) filter (where cached and tokens > 0))::int as cached_calls,
            (count(*) filter (where is_failed))::int as failed_calls, coalesce(sum(tokens), 0)::bigint as tokens
     from counted ${names ? `group by ${names} order by ${names}` : ""}`,
    [accountId, range.from, range.to, chinaOffset],
  );
  return found.rows;
}
