import type { Migration } from "../database/migrations.ts";

/** Jobs that operators started over HTTP. `json` keeps texts that `jsonb` refuses, such as half a surrogate pair. */
export const jobMigrations: readonly Migration[] = [
  {
    name: "background/1-jobs",
    up: `
create table job (
  id text primary key,
  instance_id bigint not null,
  kind text not null,
  operation text not null,
  origin text not null,
  state text not null,
  said json,
  report json,
  started_at timestamptz not null,
  ended_at timestamptz
);
create unique index job_running on job (operation) where state = 'running';
`,
  },
];
