import type { Migration } from "../database/migrations.ts";

/**
 * Rate state of accounts, keys and addresses, and the open calls. Unlogged: after a crash everybody has a full bucket,
 * which harms nobody. Times are milliseconds since 1970, so that an injected clock can be exact.
 *
 * GCRA: `tat` is the time at which the bucket would be full again. A call is admitted if that time, moved by one
 * interval, is at most `burst` intervals away; so a full bucket admits `burst` calls at once.
 */
export const limitMigrations: readonly Migration[] = [
  {
    name: "limits/1-tables",
    up: `
create unlogged table rate (
  id text primary key,
  tat double precision not null default 0,
  seen double precision not null default 0,
  day text not null default '',
  day_calls int not null default 0
) with (fillfactor = 50);
create unlogged table open_call (
  request_id text primary key,
  account_id text not null,
  until double precision not null
);
create index open_call_account on open_call (account_id);

-- Admits a call, or says why not; what is refused uses nothing up. Locks the account's row, then the key's.
-- The clock of an account runs forward only (\`seen\`): a call from an instance whose clock is behind would else look
-- as if it came before the calls that were let through. But a clock that was once far ahead must not stop the account
-- until the others get there: what it left more than a minute ahead is forgotten, and the bucket is full.
create function admit_call(
  p_request text, p_account text, p_key text, p_now double precision,
  p_interval double precision, p_burst int, p_key_interval double precision, p_key_burst int,
  p_concurrent int, p_per_day int, p_day text, p_lease double precision,
  out refused text, out wait_ms double precision, out remaining int, out full_ms double precision
) language plpgsql as $$
declare
  v_account rate%rowtype;
  v_tat double precision;
  v_key_tat double precision;
  v_open int;
  v_now double precision;
  v_lost boolean;
begin
  insert into rate (id) values (p_account) on conflict do nothing;
  select * into v_account from rate where id = p_account for update;
  v_lost := v_account.seen > p_now + 60000;
  v_now := case when v_lost then p_now else greatest(p_now, v_account.seen) end;
  v_tat := case when v_lost then v_now else greatest(v_account.tat, v_now) end + p_interval;
  remaining := floor((p_burst * p_interval - (v_tat - v_now)) / p_interval + 1e-6);
  full_ms := v_tat - v_now;
  if v_tat - v_now > p_burst * p_interval + 1e-6 then
    refused := 'rate_limited';
    wait_ms := v_tat - v_now - p_burst * p_interval;
  end if;
  if p_key_interval is not null then
    insert into rate (id) values (p_key) on conflict do nothing;
    select case when v_lost then v_now else greatest(tat, v_now) end + p_key_interval into v_key_tat
      from rate where id = p_key for update;
    if v_key_tat - v_now > p_key_burst * p_key_interval + 1e-6 then
      refused := 'rate_limited';
      wait_ms := greatest(coalesce(wait_ms, 0), v_key_tat - v_now - p_key_burst * p_key_interval);
    end if;
    remaining := least(remaining, floor((p_key_burst * p_key_interval - (v_key_tat - v_now)) / p_key_interval + 1e-6));
  end if;
  if refused is null and p_per_day is not null and v_account.day = p_day and v_account.day_calls >= p_per_day then
    refused := 'daily_limit';
  end if;
  if refused is null then
    select count(*) into v_open from
      (select from open_call where account_id = p_account and until > p_now limit p_concurrent) as open;
    if v_open >= p_concurrent then
      refused := 'concurrency_limited';
      wait_ms := 1000;
    end if;
  end if;
  if refused is not null then
    remaining := greatest(0, least(remaining + 1, p_burst));
    full_ms := full_ms - p_interval;
    if refused = 'rate_limited' then remaining := 0; end if;
    return;
  end if;
  update rate set tat = v_tat, seen = v_now, day = p_day, day_calls = case when day = p_day then day_calls + 1 else 1 end
    where id = p_account;
  if p_key_interval is not null then update rate set tat = v_key_tat where id = p_key; end if;
  insert into open_call (request_id, account_id, until) values (p_request, p_account, p_now + p_lease)
    on conflict do nothing;
end $$;
`,
  },
  {
    name: "limits/2-cost",
    // Each query of a call counts. A cost above the burst needs a full bucket and is paid off afterwards.
    up: `
drop function admit_call(text, text, text, double precision, double precision, int, double precision, int,
  int, int, text, double precision);
create function admit_call(
  p_request text, p_account text, p_key text, p_now double precision,
  p_interval double precision, p_burst int, p_key_interval double precision, p_key_burst int,
  p_concurrent int, p_per_day int, p_day text, p_lease double precision, p_cost int default 1,
  out refused text, out wait_ms double precision, out remaining int, out full_ms double precision
) language plpgsql as $$
declare
  v_account rate%rowtype;
  v_tat double precision;
  v_key_tat double precision;
  v_open int;
  v_now double precision;
  v_lost boolean;
  v_over double precision;
begin
  insert into rate (id) values (p_account) on conflict do nothing;
  select * into v_account from rate where id = p_account for update;
  v_lost := v_account.seen > p_now + 60000;
  v_now := case when v_lost then p_now else greatest(p_now, v_account.seen) end;
  v_tat := case when v_lost then v_now else greatest(v_account.tat, v_now) end + p_interval * p_cost;
  remaining := floor((p_burst * p_interval - (v_tat - v_now)) / p_interval + 1e-6);
  full_ms := v_tat - v_now;
  v_over := v_tat - v_now - (p_burst + greatest(0, p_cost - p_burst)) * p_interval;
  if v_over > 1e-6 then
    refused := 'rate_limited';
    wait_ms := v_over;
  end if;
  if p_key_interval is not null then
    insert into rate (id) values (p_key) on conflict do nothing;
    select case when v_lost then v_now else greatest(tat, v_now) end + p_key_interval * p_cost into v_key_tat
      from rate where id = p_key for update;
    v_over := v_key_tat - v_now - (p_key_burst + greatest(0, p_cost - p_key_burst)) * p_key_interval;
    if v_over > 1e-6 then
      refused := 'rate_limited';
      wait_ms := greatest(coalesce(wait_ms, 0), v_over);
    end if;
    remaining := least(remaining, floor((p_key_burst * p_key_interval - (v_key_tat - v_now)) / p_key_interval + 1e-6));
  end if;
  if refused is null and p_per_day is not null and v_account.day = p_day and v_account.day_calls + p_cost > p_per_day then
    refused := 'daily_limit';
  end if;
  if refused is null then
    select count(*) into v_open from
      (select from open_call where account_id = p_account and until > p_now limit p_concurrent) as open;
    if v_open >= p_concurrent then
      refused := 'concurrency_limited';
      wait_ms := 1000;
    end if;
  end if;
  if refused is not null then
    remaining := greatest(0, least(remaining + p_cost, p_burst));
    full_ms := full_ms - p_interval * p_cost;
    if refused = 'rate_limited' then remaining := 0; end if;
    return;
  end if;
  update rate set tat = v_tat, seen = v_now, day = p_day, day_calls = case when day = p_day then day_calls + p_cost else p_cost end
    where id = p_account;
  if p_key_interval is not null then update rate set tat = v_key_tat where id = p_key; end if;
  insert into open_call (request_id, account_id, until) values (p_request, p_account, p_now + p_lease)
    on conflict do nothing;
  remaining := greatest(0, remaining);
end $$;
`,
  },
];
