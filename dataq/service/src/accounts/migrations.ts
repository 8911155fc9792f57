import type { Migration } from "../database/migrations.ts";

/** Who may call, and who did what. Keys are stored as HMACs; no table contains the text of a key. */
export const accountMigrations: readonly Migration[] = [
  {
    name: "accounts/1-tables",
    up: `
create table account (
  id text primary key,
  name text not null,
  email text,
  role text not null check (role in ('admin', 'customer')),
  tier text not null check (tier in ('trial', 'standard', 'pro', 'operator')),
  created_at timestamptz not null
);
create unique index account_email on account (lower(email)) where email is not null;

create table api_key (
  id text primary key,
  account_id text not null references account,
  mode text not null check (mode in ('live', 'test')),
  name text not null,
  hmac bytea not null unique,
  -- What may be shown of it: its beginning and its last four characters.
  prefix text not null,
  last4 text not null,
  scopes text[] not null,
  monthly_cap bigint check (monthly_cap >= 0),
  per_second double precision check (per_second > 0),
  ip_list text[] not null default '{}',
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_reason text,
  last_used_at timestamptz
) with (fillfactor = 80);
create index api_key_account on api_key (account_id);

create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  before jsonb,
  after jsonb,
  ip text,
  user_agent text,
  request_id text
);
create function audit_is_final() returns trigger language plpgsql as
  $$ begin raise exception 'the audit log is never changed'; end $$;
create trigger audit_is_final before update or delete on audit for each row execute function audit_is_final();

create table voucher (
  code_sha256 bytea primary key,
  hint text not null,
  tokens bigint not null check (tokens > 0),
  batch text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  redeemed_at timestamptz,
  redeemed_by text references account
);

-- The pepper's fingerprint: services with another pepper would know none of the keys.
create table pepper (sha256 bytea primary key);
`,
  },
  {
    name: "accounts/2-audit-chain",
    up: `
-- In the order in which lines were found after their commit: identities come in another one.
create table audit_seal (
  seq bigint primary key,
  audit_id bigint not null unique,
  sha256 bytea not null,
  sealed_at timestamptz not null
);
create trigger audit_seal_is_final before update or delete on audit_seal
  for each row execute function audit_is_final();
`,
  },
  {
    name: "accounts/3-refusals",
    up: "alter table api_key add last_refused_at timestamptz",
  },
  {
    name: "accounts/4-one-cap",
    // The first key of a series of replaced keys. All of them share its cap.
    up: "alter table api_key add spend_as text",
  },
  {
    name: "accounts/5-append-only",
    up: "comment on table audit is 'append-only'; comment on table audit_seal is 'append-only'",
  },
  {
    name: "accounts/6-webhook-scope",
    // The operator's own key has every scope. Other keys get a new one only from somebody who has it.
    up: "update api_key set scopes = scopes || '{manage:webhooks}' where 'admin' = any(scopes)",
  },
  {
    name: "accounts/7-session-budget",
    up: "alter table api_key add session_budget bigint check (session_budget >= 0)",
  },
  {
    name: "accounts/8-audit-verified",
    up: `
-- One row: the line of the chain up to which the log was verified. \`mark\` is the hash of the columns before it.
create table audit_verified (
  id boolean primary key default true check (id),
  seq bigint not null,
  sha256 bytea not null,
  mark bytea not null
);
-- New lines are found by their time (\`RecentEntries\`).
create index audit_time on audit using brin (at) with (autosummarize = on);
`,
  },
  {
    name: "accounts/9-coupons",
    up: `
create table coupon (
  code text primary key,
  kind text not null check (kind in ('tokens', 'percent')),
  value bigint not null check (value > 0),
  days int not null check (days > 0),
  -- How many accounts may redeem it.
  most int,
  redeemed int not null default 0 check (redeemed <= most),
  created_at timestamptz not null,
  expires_at timestamptz
);
`,
  },
  {
    name: "accounts/10-closed",
    up: "alter table account add closed_at timestamptz",
  },
  {
    name: "accounts/11-persons-keys",
    up: `
-- The member with whom the key ends; null for a key of a service, as all keys were before.
alter table api_key add person_id text;
create index api_key_person on api_key (person_id) where person_id is not null;
`,
  },
  {
    name: "accounts/12-audit-of-account",
    up: `
-- An account's export reads its lines of the log only.
create index audit_target on audit (target);
create index audit_actor on audit (actor);
`,
  },
];
