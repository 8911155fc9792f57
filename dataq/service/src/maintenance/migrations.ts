import type { Migration } from "../database/migrations.ts";

/** When the service was under maintenance, and what customers are told. */
export const maintenanceMigrations: readonly Migration[] = [
  {
    name: "maintenance/1-windows",
    up: `
create table maintenance (
  id bigint generated always as identity primary key,
  begun_at timestamptz not null,
  -- When the operator expects to be done; null if unknown.
  until timestamptz,
  ended_at timestamptz,
  message_en text not null,
  message_zh text not null
);
-- One at a time, whoever begins it.
create unique index maintenance_open on maintenance ((true)) where ended_at is null;
`,
  },
];
