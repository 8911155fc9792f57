import type { Queries } from "../database/database.ts";

/** Instants: `from` is part of the range, `to` is not. */
export interface BoardRange {
  readonly from: Date;
  readonly to: Date;
}

/** Only accounts of customers: what the operator calls is no income. */
const customers = "join account a on a.id = account_id and a.role = 'customer'";
/** A day of China's calendar. */
const dayOf = (at: string) => `to_char(${at} at time zone 'Asia/Shanghai', 'YYYY-MM-DD')`;
const quantile = (share: number, column: string) =>
  `(percentile_disc(${share}) within group (order by ${column}))::int`;

/** All amounts are tokens, except those in fen. */
export interface Money {
  readonly earned: number;
  /** The part of it that customers paid for, or will pay for on credit. */
  readonly earned_paid: number;
  readonly earned_trial: number;
  readonly vendor_cost_fen: number;
  readonly paid_in: number;
  readonly vouchers: number;
  /** Of packages: tokens beyond their price when they were sold, and what ended before it was used. */
  readonly package_bonus: number;
  readonly package_expired: number;
  readonly returned: number;
}

export async function readMoney(queries: Queries, { from, to }: BoardRange): Promise<Money> {
  const found = await queries.query<Money>(
    `select e.*, c.*, p.*, v.* from
       (select coalesce(sum(earnings), 0)::bigint as earned, coalesce(sum(earnings - trial), 0)::bigint as earned_paid,
               coalesce(sum(trial), 0)::bigint as earned_trial
        from earned ${customers} where at >= $1 and at < $2) e,
       (select coalesce(sum(tokens) filter (where source in ('payment', 'manual')), 0)::bigint as paid_in,
               coalesce(sum(tokens) filter (where source in ('voucher', 'opening')), 0)::bigint as vouchers,
               coalesce(-sum(tokens) filter (where kind <> 'topup'), 0)::bigint as returned
        from cash ${customers} where at >= $1 and at < $2) c,
       (select coalesce(-sum(promotions) filter (where kind <> 'expire'), 0)::bigint as package_bonus,
               coalesce(sum(breakage) filter (where kind = 'expire'), 0)::bigint as package_expired
        from entry ${customers} where at >= $1 and at < $2 and trial = 0
          and kind in ('topup', 'refund', 'chargeback', 'expire')) p,
       (select coalesce(sum(cost_fen), 0)::float8 as vendor_cost_fen from vendor_request
        where sent_at >= $1 and sent_at < $2) v`,
    [from, to],
  );
  return found.rows[0]!;
}

/** What customers have at an instant, in tokens. */
export interface Owed {
  /** Paid and not spent: what the operator owes. */
  readonly paid: number;
  readonly trial: number;
  readonly held: number;
  /** Spent on credit: what customers owe. */
  readonly credit_drawn: number;
}

export async function readOwed(queries: Queries, at: Date): Promise<Owed> {
  const found = await queries.query<Owed>(
    `select coalesce(sum(paid), 0)::bigint as paid, coalesce(sum(trial), 0)::bigint as trial,
            coalesce(sum(held), 0)::bigint as held, coalesce(-sum(credit_line) - sum(credit), 0)::bigint as credit_drawn
     from entry ${customers} where at < $1`,
    [at],
  );
  return found.rows[0]!;
}

export interface Customers {
  /** With a call in the range. */
  readonly active: number;
  /** With a call that cost paid tokens. */
  readonly paying: number;
  readonly new: number;
  readonly total: number;
}

export async function readCustomers(queries: Queries, { from, to }: BoardRange): Promise<Customers> {
  const found = await queries.query<Customers>(
    `select (select count(distinct account_id) from request ${customers}
             where at >= $1 and at < $2 and mode = 'live')::int as active,
            (select count(distinct account_id) from earned ${customers}
             where at >= $1 and at < $2 and kind = 'capture' and earnings > trial)::int as paying,
            (select count(*) from account where role = 'customer' and created_at >= $1 and created_at < $2)::int as new,
            (select count(*) from account where role = 'customer' and created_at < $2)::int as total`,
    [from, to],
  );
  return found.rows[0]!;
}

export interface Day {
  readonly day: string;
  readonly calls: number;
  readonly failed: number;
  readonly earned_paid: number;
  readonly earned_trial: number;
  readonly paid_in: number;
  readonly vendor_cost_fen: number;
}

/** Days on which something happened, oldest first. */
export async function readDays(queries: Queries, { from, to }: BoardRange): Promise<Day[]> {
  const found = await queries.query<Day>(
    `select day, sum(calls)::int as calls, sum(failed)::int as failed, sum(paid)::bigint as earned_paid,
            sum(trial)::bigint as earned_trial, sum(cash)::bigint as paid_in, sum(cost)::float8 as vendor_cost_fen
     from (
       select ${dayOf("at")} as day, count(*) as calls, count(*) filter (where status >= 400) as failed,
              0 as paid, 0 as trial, 0 as cash, 0 as cost
       from request ${customers} where at >= $1 and at < $2 and mode = 'live' group by 1
       union all
       select ${dayOf("at")}, 0, 0, sum(earnings - trial), sum(trial), 0, 0
       from earned ${customers} where at >= $1 and at < $2 group by 1
       union all
       select ${dayOf("at")}, 0, 0, 0, 0, sum(tokens), 0
       from cash ${customers} where at >= $1 and at < $2 and source in ('payment', 'manual') group by 1
       union all
       select ${dayOf("sent_at")}, 0, 0, 0, 0, 0, sum(cost_fen)
       from vendor_request where sent_at >= $1 and sent_at < $2 group by 1
     ) part group by day order by day`,
    [from, to],
  );
  return found.rows;
}

export interface OperationRow {
  /** Null: calls of several queries as a whole, and calls without a known operation. */
  readonly operation: string | null;
  readonly calls: number;
  readonly failed: number;
  readonly earned: number;
  readonly earned_trial: number;
  readonly vendor_cost_fen: number;
  /** Null without a call. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

/** Every operation that was called, earned or cost something, the largest income first. */
export async function readOperations(queries: Queries, { from, to }: BoardRange): Promise<OperationRow[]> {
  const found = await queries.query<OperationRow>(
    `select known.operation, coalesce(calls, 0)::int as calls, coalesce(failed, 0)::int as failed,
            coalesce(earned, 0)::bigint as earned, coalesce(trial, 0)::bigint as earned_trial,
            coalesce(cost, 0)::float8 as vendor_cost_fen, p50_ms, p95_ms
     from (select nullif(operation, 'queries') as operation from request ${customers} where at >= $1 and at < $2
           union select nullif(operation, 'queries') from earned ${customers} where at >= $1 and at < $2
           union select operation from vendor_request where sent_at >= $1 and sent_at < $2) known
     left join (select nullif(operation, 'queries') as operation, count(*) as calls,
                       count(*) filter (where status >= 400) as failed,
                       ${quantile(0.5, "latency_ms")} as p50_ms, ${quantile(0.95, "latency_ms")} as p95_ms
                from request ${customers} where at >= $1 and at < $2 and mode = 'live' group by 1) r
       on r.operation is not distinct from known.operation
     left join (select nullif(operation, 'queries') as operation, sum(earnings) as earned, sum(trial) as trial
                from earned ${customers} where at >= $1 and at < $2 group by 1) e
       on e.operation is not distinct from known.operation
     left join (select operation, sum(cost_fen) as cost from vendor_request
                where sent_at >= $1 and sent_at < $2 group by 1) v
       on v.operation is not distinct from known.operation
     order by 4 desc, 2 desc, 1`,
    [from, to],
  );
  return found.rows;
}

export interface VendorRow {
  readonly contract: string;
  readonly operation: string;
  readonly requests: number;
  readonly failed: number;
  readonly cost_fen: number;
  /** The part of it for requests without an answer. */
  readonly unsure_fen: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

/** What vendors were asked and what that costs, the most expensive first. */
export async function readVendors(queries: Queries, { from, to }: BoardRange): Promise<VendorRow[]> {
  const found = await queries.query<VendorRow>(
    `select contract, operation, count(*)::int as requests, count(*) filter (where outcome = 'failed')::int as failed,
            sum(cost_fen)::float8 as cost_fen,
            coalesce(sum(cost_fen) filter (where outcome is distinct from 'answered'), 0)::float8 as unsure_fen,
            ${quantile(0.5, "ms")} as p50_ms, ${quantile(0.95, "ms")} as p95_ms
     from vendor_request where sent_at >= $1 and sent_at < $2
     group by contract, operation order by sum(cost_fen) desc, requests desc, contract, operation`,
    [from, to],
  );
  return found.rows;
}

export interface FailureRow {
  readonly operation: string | null;
  readonly code: string;
  readonly calls: number;
}

/** The most frequent errors that customers got. */
export async function readFailures(queries: Queries, { from, to }: BoardRange): Promise<FailureRow[]> {
  const found = await queries.query<FailureRow>(
    `select operation, coalesce(code, status::text) as code, count(*)::int as calls from request ${customers}
     where at >= $1 and at < $2 and mode = 'live' and status >= 400
     group by 1, 2 order by 3 desc, 2, 1 limit 10`,
    [from, to],
  );
  return found.rows;
}

export interface UnhappyRow {
  readonly account_id: string;
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
}

/** Accounts whose calls failed by no fault of theirs, the most failures first. */
export async function readUnhappy(queries: Queries, { from, to }: BoardRange): Promise<UnhappyRow[]> {
  const found = await queries.query<UnhappyRow>(
    `select account_id, a.name, count(*)::int as calls,
            count(*) filter (where status >= 500 or status = 429)::int as failed
     from request ${customers} where at >= $1 and at < $2 and mode = 'live'
     group by 1, 2 having count(*) filter (where status >= 500 or status = 429) > 0
     order by 4 desc, 3, 1 limit 10`,
    [from, to],
  );
  return found.rows;
}

export interface Cohort {
  /** When the accounts were created; YYYY-MM. */
  readonly month: string;
  readonly accounts: number;
  /** That made a call. */
  readonly called: number;
  /** That paid. */
  readonly paid: number;
  /** What they have earned the service with paid tokens. */
  readonly earned_paid: number;
}

/** What became of the accounts that got a trial, by month, newest first. */
export async function readCohorts(queries: Queries, before: Date): Promise<Cohort[]> {
  const found = await queries.query<Cohort>(
    `select to_char(a.created_at at time zone 'Asia/Shanghai', 'YYYY-MM') as month, count(*)::int as accounts,
            count(*) filter (where e.called)::int as called, count(*) filter (where p.paid)::int as paid,
            coalesce(sum(e.earned_paid), 0)::bigint as earned_paid
     from account a
     join entry g on g.account_id = a.id and g.kind = 'grant' and g.reference = 'trial:' || a.id
     left join (select account_id, true as called, sum(earnings - trial) as earned_paid from earned
                where at < $1 group by 1) e on e.account_id = a.id
     left join (select distinct account_id, true as paid from cash
                where at < $1 and source in ('payment', 'manual')) p on p.account_id = a.id
     where a.role = 'customer' and a.created_at < $1
     group by 1 order by 1 desc limit 12`,
    [before],
  );
  return found.rows;
}
