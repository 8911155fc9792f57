import type { Migration } from "../database/migrations.ts";

/** What an account was told by email, so that it is told once. */
export const alertMigrations: readonly Migration[] = [
  {
    name: "alerts/1-told",
    up: `
create table alert (
  account_id text not null references account,
  kind text not null,
  told_at timestamptz not null,
  primary key (account_id, kind)
);
`,
  },
  {
    name: "alerts/2-thresholds",
    up: `
create table alert_threshold (
  account_id text primary key references account,
  -- Null: the default (thresholds.ts).
  cap_percent int check (cap_percent between 0 and 100),
  spend_factor double precision check (spend_factor between 0 and 1000)
);
-- What an account was told of a key or a vendor, so that it is told once.
create table alert_told (
  account_id text not null references account,
  kind text not null,
  subject text not null,
  told_at timestamptz not null,
  primary key (account_id, kind, subject)
);
`,
  },
];
