import type { Migration } from "../database/migrations.ts";

/**
 * Tokens are whole numbers. A wallet is what an account can spend (trial, paid, and the rest of its credit line) and
 * what open calls hold. An entry is one balanced movement: its columns are the accounts of the journal, and a row
 * whose columns do not sum to zero cannot be written. `tokens`, which the customer sees, is the change of the
 * spendable balance. `seq` numbers an account's entries without a gap; it is assigned while the wallet is locked.
 */
export const ledgerMigrations: readonly Migration[] = [
  {
    name: "ledger/1-tables",
    up: `
create table wallet (
  account_id text primary key,
  trial bigint not null default 0 constraint wallet_trial_not_negative check (trial >= 0),
  paid bigint not null default 0 constraint wallet_paid_not_negative check (paid >= 0),
  credit bigint not null default 0 constraint wallet_credit_not_negative check (credit >= 0),
  held bigint not null default 0 constraint wallet_held_not_negative check (held >= 0),
  credit_limit bigint not null default 0 constraint wallet_credit_within_limit check (credit <= credit_limit),
  trial_expires_at timestamptz,
  frozen boolean not null default false,
  seq bigint not null default 0,
  touched_at timestamptz not null,
  -- How the latest movement was split; the statement that moves reads it back for its entry.
  part_trial bigint not null default 0,
  part_paid bigint not null default 0,
  part_credit bigint not null default 0
) with (fillfactor = 50);

-- Every entry and hold is written by a statement that has just changed its wallet: a foreign key would look the
-- wallet up again, find nothing, and take a quarter of the time. \`ledger verify\` checks it instead.
create table entry (
  account_id text not null,
  seq bigint not null,
  at timestamptz not null,
  kind text not null check (kind in ('grant','topup','hold','capture','void','reverse','expire','adjust')),
  request_id text,
  operation text,
  key_id text,
  price_version int,
  cached boolean not null default false,
  trial bigint not null default 0,
  paid bigint not null default 0,
  credit bigint not null default 0,
  held bigint not null default 0,
  earnings bigint not null default 0,
  breakage bigint not null default 0,
  promotions bigint not null default 0,
  payments bigint not null default 0,
  adjustments bigint not null default 0,
  credit_line bigint not null default 0,
  tokens bigint generated always as (trial + paid + credit) stored,
  balance_after bigint not null check (balance_after >= 0),
  actor text not null,
  note text not null,
  -- Of a top-up or a grant: what makes a second delivery of the same one known. Of a reverse: the request undone.
  reference text,
  primary key (account_id, seq),
  constraint entry_is_balanced check
    (trial + paid + credit + held + earnings + breakage + promotions + payments + adjustments + credit_line = 0)
);
create unique index entry_once_a_request on entry (request_id, kind) where request_id is not null;
create unique index entry_once_a_reference on entry (kind, reference) where reference is not null;
create index entry_time on entry using brin (at);

create function entries_are_final() returns trigger language plpgsql as
  $$ begin raise exception 'entries are never changed; write a new one'; end $$;
create trigger entries_are_final before update or delete on entry for each row execute function entries_are_final();
create trigger entries_stay before truncate on entry for each statement execute function entries_are_final();

create table hold (
  request_id text primary key,
  account_id text not null,
  key_id text,
  operation text not null,
  price_version int not null,
  cached boolean not null,
  trial bigint not null,
  paid bigint not null,
  credit bigint not null,
  tokens bigint not null check (tokens > 0 and tokens = trial + paid + credit),
  spend_month text,
  instance_id bigint not null,
  deadline timestamptz not null
);

create table key_spend (
  key_id text not null,
  month text not null,
  tokens bigint not null check (tokens >= 0),
  primary key (key_id, month)
) with (fillfactor = 50);

create table price (
  operation text not null,
  version int not null,
  tokens bigint not null check (tokens > 0),
  cached_tokens bigint check (cached_tokens > 0 and cached_tokens <= tokens),
  effective_from timestamptz not null,
  actor text not null,
  primary key (operation, version)
);

create table instance (
  id bigint generated always as identity primary key,
  started_at timestamptz not null
);

create table idempotency (
  account_id text not null,
  key text not null,
  body_sha256 bytea not null,
  request_id text not null,
  instance_id bigint not null,
  created_at timestamptz not null,
  -- Null while the first call runs.
  outcome bytea,
  primary key (account_id, key)
);
create index idempotency_age on idempotency (created_at);

create table seal (
  account_id text not null references wallet,
  seq bigint not null,
  sha256 bytea not null,
  sealed_at timestamptz not null,
  primary key (account_id, seq)
);
`,
  },
  {
    name: "ledger/2-one-cap",
    // The key whose cap the hold counts towards, if not its own.
    up: "alter table hold add spend_key text",
  },
  {
    name: "ledger/3-append-only",
    // The embedded server's service role may only add to tables with this comment.
    up: "comment on table entry is 'append-only'; comment on table seal is 'append-only'",
  },
  {
    name: "ledger/4-session-budgets",
    up: `
create table session_spend (
  account_id text not null,
  session text not null,
  tokens bigint not null check (tokens >= 0),
  used_at timestamptz not null,
  primary key (account_id, session)
) with (fillfactor = 50);
create index session_spend_age on session_spend (used_at);
-- The session whose budget the hold counts towards, if the call has one.
alter table hold add session text;
`,
  },
  {
    name: "ledger/5-verified",
    up: `
-- The point up to which each account was verified: the seal there, the sums of the entries up to it, and the time of
-- the last of them. \`mark\` is the hash of these columns.
create table verified (
  account_id text primary key,
  seq bigint not null,
  sha256 bytea not null,
  at timestamptz not null,
  trial bigint not null,
  paid bigint not null,
  credit bigint not null,
  held bigint not null,
  credit_line bigint not null,
  mark bytea not null
);
-- One row: the last verification that found nothing wrong.
create table verification (
  id boolean primary key default true check (id),
  verified_at timestamptz not null,
  whole_at timestamptz not null
);
-- New entries are found by their time (\`RecentEntries\`), also before the next vacuum.
alter index entry_time set (autosummarize = on);
`,
  },
  {
    name: "ledger/6-returned-payments",
    // The older version writes none of the new kinds and reads them like any other entry.
    contract: { oldest: "0.1.0" },
    up: `
alter table entry drop constraint entry_kind_check;
-- Not checked for the entries that exist, which the narrower rule has checked.
alter table entry add constraint entry_kind_check check (kind in
  ('grant','topup','hold','capture','void','reverse','expire','adjust','refund','chargeback')) not valid;
-- The entries that undo a payment, by the reference of the payment.
create index entry_returned on entry (split_part(reference, '/', 1)) where kind in ('refund', 'chargeback');
`,
  },
  {
    name: "ledger/7-plans",
    up: `
-- What differs from the price list. Rows are only added, each counts from its time on, and a later one replaces it.
create table account_price (
  account_id text not null references account,
  operation text not null,
  version int not null,
  -- Null: the account pays the list price again.
  tokens bigint check (tokens > 0),
  cached_tokens bigint check (cached_tokens > 0 and cached_tokens <= tokens),
  effective_from timestamptz not null,
  actor text not null,
  primary key (account_id, operation, version)
);
comment on table account_price is 'append-only';
create table free_tier (
  operation text not null,
  version int not null,
  calls int not null check (calls >= 0),
  effective_from timestamptz not null,
  actor text not null,
  primary key (operation, version)
);
comment on table free_tier is 'append-only';
-- steps: [{"from_tokens": …, "percent": …}], rising. An account that spent that much this month pays less from the
-- next day on.
create table volume_ladder (
  version int primary key,
  steps jsonb not null,
  effective_from timestamptz not null,
  actor text not null
);
comment on table volume_ladder is 'append-only';
-- What an account had spent this month before a day of China's calendar, and the entry up to which that was summed:
-- written once, before the first price of the day.
create table volume_day (
  account_id text not null,
  day date not null,
  tokens bigint not null,
  seq bigint not null,
  primary key (account_id, day)
);
comment on table volume_day is 'append-only';
create table discount (
  id text primary key,
  account_id text not null references account,
  percent int not null check (percent between 1 and 90),
  coupon text not null,
  effective_from timestamptz not null,
  effective_until timestamptz not null
);
create index discount_account on discount (account_id);
comment on table discount is 'append-only';
-- A price that a call of one account was quoted, and what it follows from. Holds name it like a version of the list.
create table special_price (
  version int generated always as identity (start with 1000001) primary key,
  account_id text not null,
  operation text not null,
  list_version int not null,
  source text not null check (source in ('account_price', 'volume_discount', 'coupon')),
  source_ref text not null,
  percent int,
  tokens bigint not null check (tokens > 0),
  cached_tokens bigint,
  effective_from timestamptz not null,
  unique nulls not distinct (account_id, operation, list_version, source, source_ref, percent)
);
comment on table special_price is 'append-only';
-- Calls that cost nothing because of the free tier, by day of China's calendar.
create table free_use (
  account_id text not null,
  operation text not null,
  day date not null,
  calls int not null check (calls >= 0),
  primary key (account_id, operation, day)
) with (fillfactor = 70);
`,
  },
  {
    name: "ledger/8-projects",
    up: `
-- Keys that share a monthly budget. Each key belongs to one project, or to none, for good: so past usage stays as it was.
create table project (
  id text primary key,
  account_id text not null references account,
  name text not null,
  monthly_budget bigint check (monthly_budget >= 0),
  alert_percent int not null check (alert_percent between 0 and 100),
  created_at timestamptz not null,
  deleted_at timestamptz
);
create index project_account on project (account_id);
alter table api_key add project_id text;
create index api_key_project on api_key (project_id) where project_id is not null;
-- What the calls of a project spent in a month, with open holds. The statement that holds brings the budget with it, so
-- that the rule is checked against the row as it then is, in the same round trip.
create table project_spend (
  project_id text not null,
  month text not null,
  tokens bigint not null check (tokens >= 0),
  budget bigint,
  primary key (project_id, month),
  constraint project_within_budget check (tokens <= budget)
) with (fillfactor = 50);
alter table hold add project_id text, add project_month text;
`,
  },
  {
    name: "ledger/9-packages",
    up: `
create table package_offer (
  id text primary key,
  tokens bigint not null check (tokens > 0),
  price_fen bigint not null check (price_fen > 0),
  days int not null check (days > 0),
  created_at timestamptz not null,
  ended_at timestamptz
);
-- Paid tokens with an end. The ledger says how many paid tokens an account has; what is left of each package follows from
-- its entries, in their order (package-spread.ts), and is stored here as of the entry in package_position.
create table package (
  id text primary key,
  account_id text not null,
  payment_id text not null unique,
  tokens bigint not null check (tokens > 0),
  price_tokens bigint not null check (price_tokens > 0 and price_tokens <= tokens),
  left_tokens bigint not null check (left_tokens >= 0),
  -- What left it otherwise than by calls.
  taken bigint not null default 0,
  bought_at timestamptz not null,
  ends_at timestamptz not null,
  ended_at timestamptz
);
create index package_account on package (account_id);
create table package_position (
  account_id text primary key,
  seq bigint not null,
  paid bigint not null
) with (fillfactor = 50);
-- From where a call took its paid tokens, so that what comes back of it goes there again.
create table package_use (
  request_id text primary key,
  account_id text not null,
  use jsonb not null
) with (fillfactor = 80);
create index package_use_account on package_use (account_id);
-- When the first package ends that has not: calls do not spend it after that.
alter table wallet add package_ends_at timestamptz;
`,
  },
];
