import { chinaDate, instantInChina } from "@dataq/contract";
import type { PaymentProvider } from "@dataq/contract/wire";
import type { Queries } from "../database/database.ts";
import { defaults } from "./thresholds.ts";

/** What an account is warned of. The webhook's message is sent with it. */
export type Alert = { readonly accountId: string } & (
  | { readonly kind: "key.near_cap"; readonly data: NearCap }
  | { readonly kind: "key.unusual"; readonly data: Unusual }
  | { readonly kind: "project.near_budget"; readonly data: NearBudget }
  | { readonly kind: "payment.charged_back"; readonly data: ChargedBack }
  | { readonly kind: "customer.charged_back"; readonly data: CustomerChargedBack }
  | { readonly kind: "vendor.failing"; readonly data: VendorFailing }
  | { readonly kind: "payments.failing"; readonly data: PaymentsFailing }
);

interface KeyNamed {
  /** The key, or `user_…` for calls that a member makes in the console. */
  readonly key_id: string;
  readonly name: string | null;
  readonly last4: string | null;
}
export interface NearCap extends KeyNamed {
  readonly month: string;
  readonly spent: number;
  readonly cap: number;
}
export interface Unusual extends KeyNamed {
  readonly day: string;
  readonly spent: number;
  /** The most that it spent on one of the 28 days before. */
  readonly usual_most: number;
}
export interface NearBudget {
  readonly project_id: string;
  readonly name: string;
  readonly month: string;
  readonly spent: number;
  readonly budget: number;
}
/** A payment that a bank took back, or gave back because the dispute was won. */
export interface ChargedBack {
  readonly payment_id: string;
  /** The one of the payment's `returns`. */
  readonly return_id: string;
  readonly provider: PaymentProvider;
  readonly amount_fen: number;
  readonly state: "taken" | "given_back";
  readonly frozen: boolean;
}
/** The same, as operators are told of it. */
export interface CustomerChargedBack extends ChargedBack {
  readonly customer_id: string;
  readonly customer_name: string;
  /** What was spent before, so that nobody could take it back. */
  readonly lost_tokens: number;
}
export interface VendorFailing {
  readonly contract: string;
  readonly failures: number;
  readonly last_failure: string | null;
}

export interface PaymentsFailing {
  readonly provider: string;
  /** What the provider answers to our keys. */
  readonly said: string;
  /** What they may not do; null: they are not accepted at all. */
  readonly right: string | null;
}

/** Days that say what is usual, and how long a key must be in use before anything can be unusual. */
const USUAL_DAYS = 28;
const LEAST_DAYS = 7;
/** Nobody is warned of less than one yuan a day. */
const LEAST_TOKENS = 50_000;
const DAY_MS = 86_400_000;

/**
 * Takes what accounts are to be told now, each thing once: a key's cap and a project's budget once a month, unusual
 * spending once a day, a payment that a bank took back and one that it gave back, and a vendor or a payment provider until
 * it has worked again. Two services that ask at once do not take the same. Looks at accounts that spent since `since`.
 */
export async function takeAlerts(queries: Queries, since: Date, now: Date): Promise<Alert[]> {
  const today = chinaDate(now);
  const alerts = [
    await take<NearCap>(queries, "key.near_cap", "key_id || ' ' || month", NEAR_CAP, [
      now,
      today.slice(0, 7),
      since,
    ]),
    await take<Unusual>(queries, "key.unusual", "key_id || ' ' || day", UNUSUAL, [
      now,
      today,
      new Date(new Date(instantInChina(today, "00:00:00")).getTime() - USUAL_DAYS * DAY_MS),
      since,
    ]),
    await take<NearBudget>(queries, "project.near_budget", "project_id || ' ' || month", NEAR_BUDGET, [
      now,
      today.slice(0, 7),
    ]),
    await take<ChargedBack>(queries, "payment.charged_back", "return_id || ' ' || state", CHARGED_BACK, [
      now,
    ]),
    await take<CustomerChargedBack>(
      queries,
      "customer.charged_back",
      "return_id || ' ' || state",
      CUSTOMER_CHARGED_BACK,
      [now],
    ),
    await take<VendorFailing>(queries, "vendor.failing", "contract", FAILING, [now]),
    await take<PaymentsFailing>(queries, "payments.failing", "provider", SHUT, [now]),
  ];
  await queries.query(
    `delete from alert_told t where told_at < $1::timestamptz - interval '60 days'
       or (kind = 'vendor.failing' and told_at < $1::timestamptz - interval '1 hour'
           and not exists (select from contract_state c where c.contract = t.subject and c.opened_at is not null))
       or (kind = 'payments.failing' and told_at < $1::timestamptz - interval '1 hour'
           and not exists (select from provider_shut p where p.provider = t.subject))`,
    [now],
  );
  return alerts.flat() as Alert[];
}

/** Stores what is due as told, and writes its message to webhooks, in one statement. */
async function take<Data>(
  queries: Queries,
  kind: Alert["kind"],
  subject: string,
  due: string,
  values: readonly unknown[],
): Promise<{ accountId: string; kind: string; data: Data }[]> {
  const found = await queries.query<{ accountId: string; data: Data }>(
    `with found as (${due}), due as (select account_id, ${subject} as subject, to_jsonb(found) - 'account_id' as data from found),
     told as (
       insert into alert_told (account_id, kind, subject, told_at) select account_id, '${kind}', subject, $1 from due
       on conflict do nothing returning account_id, subject
     )
     select account_id as "accountId", data, webhook_send(account_id, '${kind}', subject, data, $1)::text as sent
     from due join told using (account_id, subject)`,
    [...values],
  );
  return found.rows.map(({ accountId, data }) => ({ accountId, kind, data }));
}

const NEAR_CAP = `
  select k.account_id, k.id as key_id, k.name, k.last4, s.month, s.tokens as spent, k.monthly_cap as cap
  from api_key k join key_spend s on s.key_id = coalesce(k.spend_as, k.id) and s.month = $2
  left join alert_threshold t using (account_id)
  where k.monthly_cap > 0 and k.revoked_at is null and (k.expires_at is null or k.expires_at > $1)
    and coalesce(t.cap_percent, ${defaults.capPercent}) > 0
    and s.tokens * 100 >= k.monthly_cap * coalesce(t.cap_percent, ${defaults.capPercent})
    and account_id in (select account_id from entry where at >= $3)`;

const NEAR_BUDGET = `
  select p.account_id, p.id as project_id, p.name, s.month, s.tokens as spent, p.monthly_budget as budget
  from project_spend s join project p on p.id = s.project_id
  where s.month = $2 and p.deleted_at is null and p.monthly_budget > 0 and p.alert_percent > 0
    and s.tokens * 100 >= p.monthly_budget * p.alert_percent and $1::timestamptz is not null`;

const UNUSUAL = `
  select s.account_id, s.key_id, k.name, k.last4, $2::text as day, s.spent, s.usual_most
  from (
    select account_id, key_id, coalesce(sum(tokens) filter (where day = $2::date), 0)::bigint as spent,
           coalesce(max(tokens) filter (where day < $2::date), 0)::bigint as usual_most, min(day) as first
    from (
      select account_id, key_id, (at at time zone 'Asia/Shanghai')::date as day, sum(tokens) as tokens
      from usage_quarter where key_id is not null and at >= $3
        and account_id in (select account_id from entry where at >= $4)
      group by 1, 2, 3
    ) daily group by 1, 2
  ) s left join api_key k on k.id = s.key_id left join alert_threshold t on t.account_id = s.account_id
  where s.spent >= ${LEAST_TOKENS} and s.first <= $2::date - ${LEAST_DAYS}
    and coalesce(t.spend_factor, ${defaults.spendFactor}) > 0
    and s.spent > s.usual_most * coalesce(t.spend_factor, ${defaults.spendFactor})`;

/** A week is longer than any upgrade, and shorter than what was told is remembered. */
const chargedBack = (account: string, more = "") => `
  select ${account} as account_id, p.id as payment_id, r.id as return_id, p.provider, r.amount_fen,
         case r.state when 'done' then 'taken' else 'given_back' end as state, w.frozen${more}
  from payment_return r join payment p on p.id = r.payment_id join wallet w on w.account_id = p.account_id`;
const WHICH_CHARGED_BACK = `r.kind = 'chargeback' and r.state <> 'pending' and r.amount_fen > 0
    and r.ended_at > $1::timestamptz - interval '7 days'`;
const CHARGED_BACK = `${chargedBack("p.account_id")} where ${WHICH_CHARGED_BACK}`;
const CUSTOMER_CHARGED_BACK = `${chargedBack("a.id", ", c.id as customer_id, c.name as customer_name, r.lost as lost_tokens")}
  join account c on c.id = p.account_id cross join account a
  where a.role = 'admin' and ${WHICH_CHARGED_BACK}`;

const FAILING = `
  select a.id as account_id, c.contract, c.failures, c.last_failure
  from contract_state c cross join account a where c.opened_at is not null and a.role = 'admin'`;

const SHUT = `
  select a.id as account_id, p.provider, p.said, p.missing_right as "right"
  from provider_shut p cross join account a where a.role = 'admin'`;
