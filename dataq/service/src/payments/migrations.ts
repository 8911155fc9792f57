import type { Migration } from "../database/migrations.ts";

/**
 * Payments at providers. `ask_at` is when the provider is asked next; null if it need not be asked again. What moved
 * tokens is in the ledger; these tables say why.
 */
export const paymentMigrations: readonly Migration[] = [
  {
    name: "payments/1-tables",
    up: `
create table payment (
  id text primary key,
  account_id text not null references account,
  provider text not null,
  amount_fen bigint not null check (amount_fen > 0),
  tokens bigint not null check (tokens > 0),
  state text not null default 'open' check (state in ('open', 'paid', 'expired', 'failed')),
  -- What the customer is shown to pay it.
  url text,
  qr text,
  reference text,
  -- The provider's name for it before it is paid, such as a checkout session, and after, such as a trade.
  provider_id text,
  transaction text,
  heard_by text,
  trouble text,
  actor text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  ask_at timestamptz,
  asked int not null default 0
);
create index payment_account on payment (account_id, id);
create index payment_ask on payment (ask_at) where ask_at is not null;
create unique index payment_transaction on payment (provider, transaction) where transaction is not null;
create unique index payment_reference on payment (reference) where reference is not null;

create table payment_return (
  id text primary key,
  payment_id text not null references payment,
  kind text not null check (kind in ('refund', 'chargeback')),
  state text not null check (state in ('pending', 'done', 'failed')),
  amount_fen bigint not null check (amount_fen >= 0),
  paid bigint not null,
  credit bigint not null,
  lost bigint not null,
  provider_id text,
  reason text not null,
  actor text not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  ask_at timestamptz,
  asked int not null default 0
);
create index payment_return_payment on payment_return (payment_id);
create index payment_return_ask on payment_return (ask_at) where ask_at is not null;
create unique index payment_return_provider on payment_return (payment_id, kind, provider_id)
  where provider_id is not null;

-- The notifications that were handled, so that a repeated one does nothing.
create table payment_notification (
  provider text not null,
  id text not null,
  received_at timestamptz not null,
  primary key (provider, id)
);
`,
  },
  {
    name: "payments/2-own-returns",
    // False: made at the provider, which knows it by its own number only, so that asking for ours would make another.
    up: "alter table payment_return add column own boolean not null default true",
  },
  {
    name: "payments/3-packages",
    up: `
-- The package that the payment buys, as it was offered then.
alter table payment add column package_offer text, add column package_days int;
-- What a return took from the package.
alter table payment_return add column package_tokens bigint not null default 0;
`,
  },
  {
    name: "payments/4-auto-top-up",
    up: `
-- Of a payment that nobody makes by hand: the card that it charges.
alter table payment add column card jsonb;
create table auto_top_up (
  account_id text primary key references account,
  state text not null check (state in ('waiting', 'on', 'stopped')),
  low_tokens bigint not null,
  amount_fen bigint not null,
  most_fen bigint not null,
  setup_id text,
  setup_url text,
  customer text,
  method text,
  label text,
  consented_at timestamptz not null,
  consented_by text not null,
  consented_ip text,
  failures int not null default 0,
  reason text,
  not_before timestamptz,
  -- The payment that is under way; there is at most one.
  attempt text
);
`,
  },
  {
    name: "payments/5-told-failures",
    // The owners are to be told by email of the last failure.
    up: "alter table auto_top_up add column tell_failure boolean not null default false",
  },
  {
    name: "payments/6-shut-providers",
    // Providers that do not accept the keys of this service, until they do.
    up: "create table provider_shut (provider text primary key, since timestamptz not null, said text not null)",
  },
  {
    name: "payments/7-missing-rights",
    // Null: no key is accepted. Otherwise what the key may not do.
    up: "alter table provider_shut add column missing_right text",
  },
  {
    name: "payments/8-troubles",
    // Earlier versions wrote a sentence into `trouble`; it stays where it stands.
    up: "alter table payment add column trouble_told jsonb",
  },
];
