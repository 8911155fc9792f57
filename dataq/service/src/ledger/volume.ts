import type { Database } from "../database/database.ts";
import type { PriceVersion } from "./price.ts";

/** What accounts pay less, by what they spent this month. */
export interface VolumeLadder {
  readonly version: number;
  /** Rising in both. Empty: nothing less. */
  readonly steps: readonly VolumeStep[];
  readonly effectiveFrom: Date;
}

export interface VolumeStep {
  readonly from_tokens: number;
  readonly percent: number;
}

/** What the ladder takes off for an account that spent `tokens`; 0 below its first step. */
export function percentOf({ steps }: Pick<VolumeLadder, "steps">, tokens: number): number {
  return steps.findLast((step) => step.from_tokens <= tokens)?.percent ?? 0;
}

/** The list price less a percentage, rounded up to whole tokens. */
export function discounted(
  { tokens, cachedTokens }: Pick<PriceVersion, "tokens" | "cachedTokens">,
  percent: number,
): { readonly tokens: number; readonly cachedTokens: number | null } {
  const off = (price: number) => Math.ceil((price * (100 - percent)) / 100);
  return { tokens: off(tokens), cachedTokens: cachedTokens === null ? null : off(cachedTokens) };
}

/**
 * What an account had earned the service this month before a day: charges less refunds. The first who asks on a day
 * writes it down with the entry up to which it was summed, so that every price of the day can be computed again.
 */
export async function readVolume(
  { pool }: Pick<Database, "pool">,
  accountId: string,
  day: string,
  begin: Date,
): Promise<number> {
  const kept = () =>
    pool.query<{ tokens: number }>("select tokens from volume_day where account_id = $1 and day = $2", [
      accountId,
      day,
    ]);
  const found = (await kept()).rows[0];
  if (found) return found.tokens;
  await pool.query(SUM, [accountId, day, begin]);
  return (await kept()).rows[0]!.tokens;
}

/** Goes on from the last day that was summed. On the first of a month the sum begins with nothing. */
const SUM = `
with last as (
  select day, tokens, seq from volume_day where account_id = $1 and day < $2::date order by day desc limit 1
), month as (
  select date_trunc('month', $2::date)::date as first, date_trunc('month', $2::date::timestamp) at time zone 'Asia/Shanghai' as begin
), fresh as (
  select max(seq) as seq, coalesce(sum(earnings) filter (where at >= (select begin from month)), 0) as tokens
  from entry where account_id = $1 and seq > coalesce((select seq from last), 0) and at < $3
)
insert into volume_day (account_id, day, tokens, seq)
select $1, $2::date,
       case when (select first from month) = $2::date then 0
            else coalesce((select tokens from last where day >= (select first from month)), 0) + fresh.tokens end,
       coalesce(fresh.seq, (select seq from last), 0)
from fresh on conflict do nothing`;
