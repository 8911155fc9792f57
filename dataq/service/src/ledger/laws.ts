import { type Operation, operations } from "@dataq/contract";
import { eachRow } from "../database/each-row.ts";
import { severalOperation } from "./several.ts";

/** What a law says. */
export interface Law {
  readonly law: string;
  readonly text: string;
  readonly text_zh: string;
}

/** The relations that the laws are checked on: all entries, or those since the last verified point. */
export interface Scope {
  /** The entries to check. */
  readonly entries: string;
  /** All entries of the calls that `entries` belong to. */
  readonly calls: string;
  /** One row for each account with verified entries: the columns of the table `verified`. */
  readonly base: string;
}

/** All entries. Nothing is taken as verified. */
export const everything: Scope = {
  entries: "entry",
  calls: "entry",
  base: `(select null::text as account_id, 0::bigint as seq, null::timestamptz as at, 0::bigint as trial, 0::bigint as paid,
          0::bigint as credit, 0::bigint as held, 0::bigint as credit_line where false)`,
};

const list: readonly Operation[] = operations;
/** Calls of these operations cost a multiple of the price; see `pricedPer`. */
const pricedByParts = list
  .flatMap(({ name, pricedPer }) => (pricedPer === undefined ? [] : `'${name}'`))
  .join(", ");
/** Prices by the versions that holds name: those of the list, and those of one account. */
const prices = `(select null::text as account_id, operation, version, tokens, cached_tokens, effective_from from price
  union all select account_id, operation, version, tokens, cached_tokens, effective_from from special_price)`;
const listPrice = "(case when h.cached then p.cached_tokens else p.tokens end)";

/** The prices in the note of a capture for several queries: operation, version, whether cached, count, tokens. */
const partsOfNote = "regexp_matches(c.note, '([a-z_]+) v(\\d+)( cached)? × (\\d+): (\\d+)', 'g') m";

/** Each statement returns one row per breach. */
export function lawsOf({ entries, calls, base }: Scope): readonly (Law & { readonly sql: string })[] {
  return [
    {
      law: "L1",
      text: "every entry balances",
      text_zh: "每一笔账目借贷相等",
      sql: `select account_id || ' ' || seq from ${entries} where trial + paid + credit + held + earnings + breakage
          + promotions + payments + adjustments + credit_line <> 0 or tokens <> trial + paid + credit`,
    },
    {
      law: "L2",
      text: "no entry is missing, and every entry and hold has a wallet",
      text_zh: "账目没有缺失，每笔账目和冻结都有对应的钱包",
      sql: `select w.account_id from wallet w left join ${base} b using (account_id)
          left join (select account_id, count(*) n, max(seq) last from ${entries} group by 1) e using (account_id)
          where coalesce(b.seq, 0) + coalesce(e.n, 0) <> w.seq or coalesce(e.last, b.seq, 0) <> w.seq
          union all
          select account_id from
            (select account_id from ${entries} union select account_id from ${base} b union select account_id from hold) known
          where not exists (select from wallet w where w.account_id = known.account_id)`,
    },
    {
      law: "L3",
      text: "every wallet is the sum of its entries, and its held tokens are the sum of its open holds",
      text_zh: "钱包余额等于账目之和，冻结额等于未结的冻结",
      sql: `select w.account_id from wallet w left join ${base} b using (account_id)
          left join (select account_id, sum(trial) trial, sum(paid) paid, sum(credit) credit, sum(held) held,
                            sum(credit_line) line from ${entries} group by 1) e using (account_id)
          left join (select account_id, sum(tokens) open from hold group by 1) h using (account_id)
          where (w.trial, w.paid, w.credit, w.held) is distinct from
                (coalesce(b.trial, 0) + coalesce(e.trial, 0), coalesce(b.paid, 0) + coalesce(e.paid, 0),
                 coalesce(b.credit, 0) + coalesce(e.credit, 0), coalesce(b.held, 0) + coalesce(e.held, 0))
             or w.held <> coalesce(h.open, 0) or w.credit_limit <> -(coalesce(b.credit_line, 0) + coalesce(e.line, 0))`,
    },
    {
      law: "L3",
      text: "every balance_after is the running sum",
      text_zh: "每笔账目后的余额等于累计之和",
      sql: `select e.account_id || ' ' || e.seq from
            (select account_id, seq, balance_after, sum(tokens) over (partition by account_id order by seq) as run
             from ${entries}) e left join ${base} b using (account_id)
          where balance_after <> run + coalesce(b.trial + b.paid + b.credit, 0)`,
    },
    {
      law: "L4",
      text: "nothing is negative",
      text_zh: "没有负数",
      sql: `select account_id from wallet where least(trial, paid, credit, held) < 0
          union all select account_id || ' ' || seq from ${entries} where balance_after < 0`,
    },
    {
      law: "L5",
      text: "every call has one hold, and ends once or is still open",
      text_zh: "每次调用只有一笔冻结，并只结束一次，或仍在进行",
      sql: `select request_id from ${calls} c where request_id is not null group by 1
          having count(*) filter (where kind = 'hold') <> 1
              or count(*) filter (where kind in ('capture', 'void'))
                 + (select count(*) from hold h where h.request_id = c.request_id) <> 1`,
    },
    {
      law: "L6",
      text: "a charge never exceeds its hold, and equals the price in effect at the hold",
      text_zh: "扣费不超过冻结，且为冻结时生效的价格",
      sql: `select c.request_id from ${entries} c
          join ${calls} h on h.request_id = c.request_id and h.kind = 'hold'
          left join ${prices} p on p.operation = h.operation and p.version = h.price_version
            and coalesce(p.account_id, h.account_id) = h.account_id
          where c.kind = 'capture' and h.operation <> '${severalOperation}' and (c.earnings > h.held or c.earnings + c.tokens <> h.held
             or c.price_version is distinct from h.price_version
             or (c.earnings is distinct from ${listPrice}
                 and (h.operation = any(array[${pricedByParts}]) and c.earnings > 0
                      and c.earnings % nullif(${listPrice}, 0) = 0) is not true)
             or p.effective_from > h.at and (p.version > 1 or p.account_id is not null))`,
    },
    {
      law: "L6",
      text: "the charge for several queries is the sum of the prices that its note names",
      text_zh: "一次多个查询的扣费等于备注所列各价格之和",
      sql: `select c.request_id from ${entries} c
          join ${calls} h on h.request_id = c.request_id and h.kind = 'hold'
          where c.kind = 'capture' and h.operation = '${severalOperation}' and (c.earnings > h.held
             or c.earnings + c.tokens <> h.held
             or c.earnings is distinct from (select sum(m[5]::bigint) from ${partsOfNote})
             or exists (select from ${partsOfNote}
               left join ${prices} p on p.operation = m[1] and p.version = m[2]::int
                 and (p.effective_from <= h.at or p.version = 1 and p.account_id is null)
                 and coalesce(p.account_id, h.account_id) = h.account_id
               cross join lateral (select case when m[3] is null then p.tokens else p.cached_tokens end as price) unit
               where (m[5]::bigint % nullif(unit.price, 0) = 0
                      and (m[5]::bigint = m[4]::bigint * unit.price or m[1] = any(array[${pricedByParts}]))) is not true))`,
    },
    {
      law: "L6",
      text: "a special price is what was agreed with the account, or the list price less the discount that it names",
      text_zh: "特殊价格等于与账户约定的价格，或价目表价格减去所列折扣",
      sql: `select s.account_id || ' ' || s.version from special_price s
          left join price l on l.operation = s.operation and l.version = s.list_version
          left join account_price a on s.source = 'account_price' and a.account_id = s.account_id
            and a.operation = s.operation and a.version::text = s.source_ref
          left join volume_ladder v on s.source = 'volume_discount' and v.version::text = s.source_ref
          left join discount d on s.source = 'coupon' and d.id = s.source_ref and d.account_id = s.account_id
          where l.version is null or (s.tokens, s.cached_tokens) is distinct from
              case when s.source = 'account_price' then (a.tokens, a.cached_tokens)
                   else (ceil(l.tokens * (100 - s.percent) / 100.0)::bigint,
                         ceil(l.cached_tokens * (100 - s.percent) / 100.0)::bigint) end
             or (s.source = 'coupon' and d.percent is distinct from s.percent)
             or (s.source = 'volume_discount' and not exists (
                   select from jsonb_array_elements(v.steps) step where (step ->> 'percent')::int = s.percent))`,
    },
    {
      law: "L7",
      text: "a charged call keeps its outcome under its Idempotency-Key, so that a retry is free",
      text_zh: "已扣费的调用在其 Idempotency-Key 下保留结果，重试不会再次扣费",
      sql: `select i.account_id || ' ' || i.key from idempotency i cross join lateral
            (select from entry where request_id = i.request_id and kind = 'capture' and account_id = i.account_id ${eachRow}) c
          where i.outcome is null`,
    },
    {
      law: "L8",
      text: "a payment, voucher or trial is credited once",
      text_zh: "一笔付款、充值码或试用至多入账一次",
      sql: `select e.reference from ${entries} e cross join lateral
            (select from entry o where o.kind = e.kind and o.reference = e.reference
               and (o.account_id, o.seq) <> (e.account_id, e.seq) ${eachRow}) o
          where e.reference is not null`,
    },
    {
      law: "L9",
      text: "the entries of a call agree on account, operation and key, and add up to what was earned",
      text_zh: "同一次调用的账目在账户、接口和密钥上一致，合计等于收入",
      sql: `select request_id from ${calls} c where request_id is not null group by 1
          having count(distinct account_id) > 1 or count(distinct operation) > 1 or count(distinct key_id) > 1
              or sum(tokens + held + earnings) <> 0`,
    },
    {
      law: "L10",
      text: "an expired trial is not spent",
      text_zh: "过期的试用点数没有被使用",
      sql: `select e.account_id || ' ' || e.seq from ${entries} e join wallet w using (account_id)
          where e.kind = 'hold' and e.trial < 0 and w.trial_expires_at <= e.at`,
    },
    {
      law: "L10",
      text: "trial tokens are spent first, then paid tokens, then credit",
      text_zh: "扣费顺序：先试用点数，再付费点数，最后信用额度",
      sql: `select account_id || ' ' || seq from
            (select e.account_id, e.seq, e.kind, e.paid, e.credit, coalesce(b.trial, 0) + sum(e.trial) over w as trial_after,
                    coalesce(b.paid, 0) + sum(e.paid) over w as paid_after
             from ${entries} e left join ${base} b using (account_id)
             window w as (partition by e.account_id order by e.seq)) e
          where kind = 'hold' and ((paid < 0 and trial_after > 0) or (credit < 0 and trial_after + paid_after > 0))`,
    },
    {
      law: "L10",
      text: "what left a package is what calls used of it or was taken, and no package has more than the paid tokens",
      text_zh: "套餐减少的点数等于调用使用与扣除之和，且套餐剩余不超过付费点数",
      sql: `select p.id from package p where p.ended_at is not null and p.left_tokens <> 0
             or p.tokens - p.left_tokens - p.taken <> (select coalesce(sum((u.use -> 'parts' ->> p.id)::bigint), 0)
                from package_use u where u.account_id = p.account_id and u.use -> 'parts' ? p.id)
          union all
          select account_id from package_position o join package p using (account_id)
          group by account_id, o.paid having sum(p.left_tokens) > o.paid`,
    },
    {
      law: "L11",
      text: "the tokens of customers, earnings and expired trials add up to what came in",
      text_zh: "客户持有、收入与过期的点数之和等于流入的点数",
      sql: `select sum(trial + paid + credit + held + earnings + breakage) || ' of '
                 || -sum(promotions + payments + adjustments + credit_line) from ${entries}
          having sum(trial + paid + credit + held + earnings + breakage)
              <> -sum(promotions + payments + adjustments + credit_line)`,
    },
    {
      law: "L12",
      text: "a refund never exceeds its charge",
      text_zh: "退款不超过扣费",
      sql: `select r.request_id from ${entries} r left join ${calls} c on c.request_id = r.request_id and c.kind = 'capture'
          where r.kind = 'reverse' and (c.request_id is null or -r.earnings > c.earnings or r.account_id <> c.account_id)`,
    },
    {
      law: "L12",
      text: "a refund goes back to the part of the wallet that was charged",
      text_zh: "退款退回到原来扣费的部分",
      // Refunds without a reference are older than this law. Credit may go back to paid, trial never.
      sql: `select r.request_id from ${entries} r
          join ${calls} h on h.request_id = r.request_id and h.kind = 'hold'
          join ${calls} c on c.request_id = r.request_id and c.kind = 'capture'
          where r.kind = 'reverse' and r.reference is not null
            and (r.trial > -(h.trial + c.trial) or r.paid + r.credit > -(h.paid + c.paid + h.credit + c.credit))`,
    },
    {
      law: "L12",
      text: "what goes back of a payment never exceeds it, and is taken from the account that paid",
      text_zh: "一笔付款退回的金额不超过付款，并从付款的账户扣除",
      sql: `select r.reference from ${entries} r
          left join entry p on p.kind = 'topup' and p.reference = split_part(r.reference, '/', 1)
          cross join lateral (select sum(o.payments) as back from entry o where o.kind in ('refund', 'chargeback')
            and split_part(o.reference, '/', 1) = split_part(r.reference, '/', 1)) o
          where r.kind in ('refund', 'chargeback')
            and (p.account_id is distinct from r.account_id or o.back not between 0 and -p.payments or r.trial <> 0)`,
    },
    {
      law: "L13",
      text: "the entries of an account are in order of time",
      text_zh: "账户的账目按时间先后排列",
      sql: `select e.account_id || ' ' || e.seq from
            (select account_id, seq, at, lag(at) over (partition by account_id order by seq) as before from ${entries}) e
          left join ${base} b using (account_id) where e.at < coalesce(e.before, b.at)`,
    },
    {
      law: "L14",
      text: "every entry has an actor and a reason",
      text_zh: "每笔账目都有操作者和原因",
      sql: `select account_id || ' ' || seq from ${entries} where actor = '' or note = ''`,
    },
  ];
}
