import type { Migration } from "../database/migrations.ts";

/** When backups were stored elsewhere, and when one was last tried. */
export const backupMigrations: readonly Migration[] = [
  {
    name: "backup/1-log",
    up: `
create table backup_log (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  kind text not null check (kind in ('stored', 'rehearsed')),
  name text not null,
  -- The moment of the backup.
  taken_at timestamptz not null,
  bytes bigint not null,
  -- Entries of the ledger that a rehearsal verified.
  entries bigint
);
create index backup_log_kind on backup_log (kind, at desc);
`,
  },
];
