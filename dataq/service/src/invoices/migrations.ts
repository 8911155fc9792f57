import type { Migration } from "../database/migrations.ts";

/** Who an account's invoices are made out to, and the invoices that it asked for. */
export const invoiceMigrations: readonly Migration[] = [
  {
    name: "invoices/1-tables",
    up: `
create table invoice_buyer (
  account_id text primary key references account,
  buyer jsonb not null,
  changed_at timestamptz not null
);
create table invoice (
  id text primary key,
  account_id text not null references account,
  state text not null default 'requested' check (state in ('requested', 'issued')),
  amount_fen bigint not null check (amount_fen > 0),
  -- The buyer as of the request, so that a later change does not alter what was asked for.
  buyer jsonb not null,
  number text,
  created_at timestamptz not null,
  issued_at timestamptz
);
create index invoice_account on invoice (account_id, id);
create unique index invoice_number on invoice (number) where number is not null;
-- A payment is on one invoice at most.
create table invoice_payment (
  payment_id text primary key references payment,
  invoice_id text not null references invoice
);
create index invoice_payment_invoice on invoice_payment (invoice_id);
`,
  },
  {
    name: "invoices/2-corrections",
    up: `
-- Invoices over a part of an issued one: red ones over what went back, others over what came back after that.
create table invoice_correction (
  number text primary key,
  invoice_id text not null references invoice,
  kind text not null check (kind in ('red', 'again')),
  amount_fen bigint not null check (amount_fen > 0),
  issued_at timestamptz not null
);
create index invoice_correction_invoice on invoice_correction (invoice_id, issued_at);
`,
  },
];
