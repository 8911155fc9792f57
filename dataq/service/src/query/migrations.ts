import type { Migration } from "../database/migrations.ts";

/**
 * Cached answers, who asked for them, and one line for each call. The first two are unlogged: a crash empties them,
 * which costs a caller half a price and changes no balance.
 */
export const queryMigrations: readonly Migration[] = [
  {
    name: "query/1-tables",
    up: `
create unlogged table kept_answer (
  key bytea primary key,
  payload bytea not null,
  made_at timestamptz not null,
  expires_at timestamptz not null
);
-- Long ones come compressed.
alter table kept_answer alter column payload set storage external;
create index kept_answer_expiry on kept_answer (expires_at);
-- One account's repeat costs half; that somebody else asked is nobody's business.
create unlogged table asked (
  account_id text not null,
  key bytea not null,
  expires_at timestamptz not null,
  primary key (account_id, key)
);
create index asked_expiry on asked (expires_at);
create table request (
  id text primary key,
  at timestamptz not null,
  account_id text not null,
  key_id text not null,
  mode text not null,
  route text not null,
  operation text,
  status int not null,
  code text,
  cached boolean not null,
  latency_ms int not null,
  client_request_id text
);
create index request_account on request (account_id, at desc);
`,
  },
  {
    name: "query/2-reasons",
    // The reason why a vendor's answer could not be used, for the operator.
    up: "alter table request add column reason text",
  },
  {
    name: "query/3-requests-by-account",
    // Pages of the log are sorted by ID.
    up: "create index request_page on request (account_id, id)",
  },
  {
    name: "query/4-usage",
    // See usage-sums.ts.
    up: `
create table usage_quarter (
  account_id text not null,
  at timestamptz not null,
  operation text,
  key_id text,
  calls bigint not null,
  billed bigint not null,
  cached bigint not null,
  failed bigint not null,
  tokens bigint not null
) with (fillfactor = 70);
create unique index usage_quarter_once on usage_quarter (account_id, at, operation, key_id) nulls not distinct;
create table usage_position (
  account_id text primary key,
  seq bigint not null
) with (fillfactor = 50);
alter table request add column is_held boolean;
create index request_uncounted on request (account_id, at) where is_held is null;
`,
  },
  {
    name: "query/5-filters",
    // A filter that few calls pass must not read all calls of an account. Failed calls are few.
    up: `
create index request_operation on request (account_id, operation, id);
create index request_key on request (account_id, key_id, id);
create index request_failed on request (account_id, status, id) where status >= 400;
`,
  },
];
