import type pg from "pg";
import type { Migration } from "../database/migrations.ts";

/**
 * Webhooks, the messages to them, and the triggers that write a message in the transaction of what happened, whichever
 * process made it happen: a call, an import of the command line, a refresh. `webhook_send` also adds the jobs that
 * deliver it, so that a message is never without its jobs. graphile-worker runs the jobs (`queue.ts`).
 */
export const webhookMigrations: readonly Migration[] = [
  { name: "webhooks/1-queue", up: installQueue },
  {
    name: "webhooks/2-tables",
    up: `
-- graphile-worker's tables admit only their owner, and the service is not the owner on an embedded server.
do $$ declare each record; begin
  for each in select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
              where n.nspname = 'graphile_worker' and c.relkind = 'r' and c.relrowsecurity loop
    execute format('create policy service on graphile_worker.%I using (true) with check (true)', each.name);
  end loop;
end $$;

create table webhook (
  id text primary key,
  account_id text not null references account,
  url text not null,
  events text[] not null,
  enabled boolean not null,
  disabled_reason text check (disabled_reason in ('failing', 'gone')),
  -- Encrypted; see secret.ts.
  secret bytea not null,
  old_secret bytea,
  old_secret_until timestamptz,
  created_at timestamptz not null
);
create index webhook_account on webhook (account_id);

create table webhook_message (
  id text primary key,
  account_id text not null references account,
  type text not null,
  -- What the message is about, such as a key. It limits how often the same thing is told.
  subject text not null,
  -- The body as it is signed and sent.
  body text not null,
  created_at timestamptz not null
);
create index webhook_message_subject on webhook_message (account_id, type, subject, created_at);
create index webhook_message_created on webhook_message (created_at);

create table webhook_delivery (
  id bigint generated always as identity primary key,
  webhook_id text not null references webhook on delete cascade,
  message_id text not null references webhook_message on delete cascade,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  attempts int not null default 0,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz,
  status int,
  error text,
  answer text,
  unique (webhook_id, message_id)
);
create index webhook_delivery_message on webhook_delivery (message_id);
create index webhook_delivery_webhook on webhook_delivery (webhook_id, id);

-- Which worker belongs to which service, so that the jobs of a killed service are freed.
create table webhook_worker (
  pool text primary key,
  instance_id bigint not null
);

-- Writes a message and adds the jobs that deliver it. Does nothing if no webhook wants it.
create function webhook_send(account text, event text, subject text, data jsonb, at timestamptz)
returns void language plpgsql as $$
declare
  message text := 'msg_' || replace(gen_random_uuid()::text, '-', '');
  target record;
begin
  if not exists (select from webhook w where w.account_id = account and w.enabled and event = any (w.events)) then
    return;
  end if;
  insert into webhook_message (id, account_id, type, subject, body, created_at)
  values (message, account, event, subject, json_build_object(
    'type', event,
    'timestamp', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'data', data)::text, at);
  for target in
    insert into webhook_delivery (webhook_id, message_id, next_attempt_at)
    select w.id, message, at from webhook w
    where w.account_id = account and w.enabled and event = any (w.events)
    returning id, webhook_id
  loop
    perform webhook_enqueue(target.id, target.webhook_id);
  end loop;
end $$;

-- The flag lets a service leave out the jobs of a webhook that is busy (queue.ts). The task limits the attempts itself
-- (deliver.ts).
create function webhook_enqueue(delivery bigint, webhook text) returns void language plpgsql as $$
begin
  perform graphile_worker.add_job('deliver_webhook', json_build_object('delivery', delivery, 'group', webhook),
    max_attempts => 100, job_key => 'delivery:' || delivery, flags => array[webhook]);
end $$;

create function webhook_tell_operators(event text, subject text, data jsonb, at timestamptz)
returns void language sql as $$
  select webhook_send(a.id, event, subject, data, at) from account a where a.role = 'admin'
$$;

alter table wallet add low_balance bigint not null default 100000;
create function webhook_low_balance() returns trigger language plpgsql as $$
declare told timestamptz;
begin
  -- Holds and voids move the balance across the mark again and again.
  select max(m.created_at) into told from webhook_message m
  where m.account_id = new.account_id and m.type = 'balance.low' and m.subject = ''
    and m.created_at > new.touched_at - interval '1 hour';
  if told is null or exists (select from entry e where e.account_id = new.account_id and e.at > told
                               and e.kind in ('grant', 'topup', 'adjust')) then
    perform webhook_send(new.account_id, 'balance.low', '', jsonb_build_object(
      'balance', new.trial + new.paid + new.credit, 'low_balance', new.low_balance), new.touched_at);
  end if;
  return null;
end $$;
create trigger webhook_low_balance after update on wallet for each row
  when (old.trial + old.paid + old.credit >= new.low_balance and new.trial + new.paid + new.credit < new.low_balance)
  execute function webhook_low_balance();

-- The audit log has a line at most once per hour and key.
create function webhook_key_refused() returns trigger language plpgsql as $$
begin
  perform webhook_send(k.account_id, 'key.refused', k.id, jsonb_build_object(
    'key_id', k.id, 'name', k.name, 'last4', k.last4, 'reason', new.after ->> 'reason', 'ip', new.ip), new.at)
  from api_key k where k.id = new.target;
  return null;
end $$;
create trigger webhook_key_refused after insert on audit for each row
  when (new.action = 'key.refused') execute function webhook_key_refused();

create function webhook_import_done() returns trigger language plpgsql as $$
begin
  perform webhook_tell_operators('import.done', new.target, jsonb_build_object(
    'operation', new.target, 'dataset', new.dataset, 'from', new.origin, 'records', new.done,
    'bad_rows', new.bad_rows), new.updated_at);
  return null;
end $$;
create trigger webhook_import_done after update on import_run for each row
  when (old.state <> 'done' and new.state = 'done' and new.origin <> 'generator')
  execute function webhook_import_done();

-- Only a refresh restarts the 30 days; an import does not.
create function webhook_refresh_done() returns trigger language plpgsql as $$
begin
  perform webhook_tell_operators('refresh.done', new.corpus, jsonb_build_object(
    'operation', new.corpus, 'refreshed_at', new.refreshed_at, 'next_refresh_at', new.next_refresh_at),
    new.refreshed_at);
  return null;
end $$;
create trigger webhook_refresh_done after update on search_corpus for each row
  when (new.next_refresh_at is distinct from old.next_refresh_at and new.corpus not like '%#%')
  execute function webhook_refresh_done();
`,
  },
];

/** The tables of graphile-worker. A later version with other tables needs a step of its own. */
async function installQueue(owner: pg.Pool): Promise<void> {
  const { runMigrations } = await import("graphile-worker");
  const { silent } = await import("./queue-log.ts");
  await runMigrations({ pgPool: owner, logger: silent });
}
