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
];
