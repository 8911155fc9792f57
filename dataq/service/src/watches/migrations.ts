import type { Migration } from "../database/migrations.ts";

/** Watches, and the trigger that asks them again when their data was refreshed, in the transaction of the refresh. */
export const watchMigrations: readonly Migration[] = [
  {
    name: "watches/1-tables",
    up: `
create table watch (
  id text primary key,
  account_id text not null references account,
  name text not null,
  operation text not null,
  params jsonb not null,
  monthly_limit bigint not null check (monthly_limit > 0),
  enabled boolean not null default true,
  stopped_reason text,
  last_error text,
  last_asked_at timestamptz,
  -- How often it was answered. A call that is repeated after a crash has the same number, so it costs nothing.
  answers int not null default 0,
  -- IDs of the records that it has found, the latest last.
  seen text[] not null,
  created_at timestamptz not null
);
create index watch_account on watch (account_id);
create index watch_operation on watch (operation) where enabled;

-- Five seconds later, every service has noticed the new data; see search/postings/snapshots.ts.
create function watch_ask() returns trigger language plpgsql as $$
begin
  perform graphile_worker.add_job('ask_watch', json_build_object('watch', w.id, 'group', w.account_id),
    run_at => now() + interval '5 seconds', max_attempts => 12, job_key => 'watch:' || w.id,
    flags => array[w.account_id])
  from watch w where w.operation = new.corpus and w.enabled;
  return null;
end $$;
create trigger watch_ask after update on search_corpus for each row
  when (new.snapshot <> old.snapshot or new.refreshed_at <> old.refreshed_at)
  execute function watch_ask();
create trigger watch_ask_first after insert on search_corpus for each row execute function watch_ask();
`,
  },
];
