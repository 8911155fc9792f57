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
  {
    name: "limits/3-vendors",
    // Unlogged, like the rates: after a crash every vendor is asked again. The row of a vendor is locked for as long as
    // one statement takes. A call that tries whether the vendor works again is known by its ID.
    up: `
create unlogged table vendor_state (
  operation text primary key,
  calls bigint not null default 0,
  failures int not null default 0,
  opened_at double precision,
  trial text,
  trial_until double precision,
  last_failure text
) with (fillfactor = 50);
create unlogged table vendor_call (
  id text primary key,
  operation text not null,
  until double precision not null
);
create index vendor_call_operation on vendor_call (operation);

create function enter_vendor(
  p_operation text, p_id text, p_now double precision, p_most int, p_lease double precision, p_cool_down double precision,
  out refused text, out wait_ms double precision, out last_failure text
) language plpgsql as $$
declare
  v_state vendor_state%rowtype;
  v_open int;
begin
  insert into vendor_state (operation) values (p_operation) on conflict do nothing;
  select * into v_state from vendor_state where operation = p_operation for update;
  delete from vendor_call where operation = p_operation and until <= p_now;
  select count(*) into v_open from (select from vendor_call where operation = p_operation limit p_most) as open;
  if v_open >= p_most then
    refused := 'full';
    return;
  end if;
  if v_state.opened_at is not null then
    -- A clock that was far ahead when the breaker opened must not stop the vendor until the others get there.
    wait_ms := case when v_state.opened_at > p_now + 60000 then 0 else v_state.opened_at + p_cool_down - p_now end;
    if wait_ms > 0 or v_state.trial_until > p_now then
      refused := 'open';
      last_failure := v_state.last_failure;
      return;
    end if;
  end if;
  update vendor_state s set calls = s.calls + 1,
         trial = case when s.opened_at is null then null else p_id end,
         trial_until = case when s.opened_at is null then null else p_now + p_lease end
    where s.operation = p_operation;
  insert into vendor_call (id, operation, until) values (p_id, p_operation, p_now + p_lease);
end $$;

create function leave_vendor(
  p_operation text, p_id text, p_now double precision, p_outcome text, p_failure text, p_failures int
) returns void language plpgsql as $$
begin
  delete from vendor_call where id = p_id;
  if p_outcome = 'failed' then
    update vendor_state set failures = failures + 1, last_failure = p_failure,
           opened_at = case when failures + 1 >= p_failures then p_now else opened_at end,
           trial = null, trial_until = null
      where operation = p_operation;
  elsif p_outcome = 'answered' then
    update vendor_state set failures = 0, last_failure = null, opened_at = null, trial = null, trial_until = null
      where operation = p_operation and (failures > 0 or opened_at is not null or last_failure is not null);
  else
    update vendor_state set trial = null, trial_until = null where operation = p_operation and trial = p_id;
  end if;
end $$;
`,
  },
  {
    name: "limits/4-contracts",
    // A contract serves several operations; limits, breaker and pauses are its own. Times are milliseconds since 1970.
    // The requests are logged, unlike the rest: they are what the vendor will ask money for. The tables and functions of
    // the step before stay for services of the last release that run beside this one.
    up: `
create unlogged table contract_state (
  contract text primary key,
  failures int not null default 0,
  opened_at double precision,
  trial text,
  trial_until double precision,
  last_failure text,
  next_at double precision not null default 0,
  seen double precision not null default 0,
  day text not null default '',
  day_calls int not null default 0,
  paused_until double precision,
  paused_why text
) with (fillfactor = 50);
create unlogged table contract_call (
  id text primary key,
  contract text not null,
  until double precision not null
);
create index contract_call_contract on contract_call (contract);
create table vendor_request (
  id text primary key,
  contract text not null,
  operation text not null,
  request_id text,
  sent_at timestamptz not null,
  -- Counted when it is sent, and taken back if the vendor fails: a request whose service was killed was perhaps charged.
  cost_fen numeric(14, 4) not null,
  outcome text,
  status int,
  ms int
);
create index vendor_request_contract on vendor_request (contract, sent_at);
create index vendor_request_call on vendor_request (request_id) where request_id is not null;

-- The turn of a request, or why it may not be sent. A turn is given away at once, so that requests of several services
-- that wait at the same time go one after the other.
create function enter_contract(
  p_contract text, p_operation text, p_id text, p_request text, p_now double precision, p_most int, p_every double precision,
  p_per_day int, p_day text, p_day_ends double precision, p_lease double precision, p_cool_down double precision,
  p_patience double precision, p_cost numeric,
  out refused text, out wait_ms double precision, out why text
) language plpgsql as $$
declare
  v_state contract_state%rowtype;
  v_open int;
  v_lost boolean;
begin
  insert into contract_state (contract) values (p_contract) on conflict do nothing;
  select * into v_state from contract_state where contract = p_contract for update;
  -- What a clock that was far ahead left behind must not stop the contract until the others get there.
  v_lost := v_state.seen > p_now + 60000;
  delete from contract_call where contract = p_contract and until <= p_now;
  if v_state.paused_until > p_now and not v_lost then
    refused := 'paused';
    wait_ms := v_state.paused_until - p_now;
    why := v_state.paused_why;
    return;
  end if;
  if v_state.opened_at is not null then
    wait_ms := case when v_lost then 0 else v_state.opened_at + p_cool_down - p_now end;
    if wait_ms > 0 or v_state.trial_until > p_now then
      refused := 'open';
      wait_ms := greatest(wait_ms, 1000);
      why := v_state.last_failure;
      return;
    end if;
  end if;
  if p_per_day is not null and v_state.day = p_day and v_state.day_calls >= p_per_day then
    refused := 'day';
    wait_ms := p_day_ends - p_now;
    return;
  end if;
  select count(*) into v_open from (select from contract_call where contract = p_contract limit p_most) as open;
  if v_open >= p_most then
    refused := 'full';
    wait_ms := 1000;
    return;
  end if;
  wait_ms := case when p_every = 0 or v_lost then 0 else greatest(0, v_state.next_at - p_now) end;
  if wait_ms > p_patience then
    refused := 'rate';
    return;
  end if;
  update contract_state s set next_at = p_now + wait_ms + p_every, seen = p_now, day = p_day,
         day_calls = case when s.day = p_day then s.day_calls + 1 else 1 end,
         trial = case when s.opened_at is null then null else p_id end,
         trial_until = case when s.opened_at is null then null else p_now + wait_ms + p_lease end
    where s.contract = p_contract;
  insert into contract_call (id, contract, until) values (p_id, p_contract, p_now + wait_ms + p_lease);
  insert into vendor_request (id, contract, operation, request_id, sent_at, cost_fen)
    values (p_id, p_contract, p_operation, p_request, to_timestamp((p_now + wait_ms) / 1000), p_cost);
end $$;

create function leave_contract(
  p_contract text, p_id text, p_now double precision, p_outcome text, p_failure text, p_failures int,
  p_pause double precision, p_pause_why text, p_status int, p_ms int
) returns void language plpgsql as $$
begin
  delete from contract_call where id = p_id;
  update vendor_request set outcome = p_outcome, status = p_status, ms = p_ms,
         cost_fen = case when p_outcome = 'answered' then cost_fen else 0 end
    where id = p_id;
  if p_outcome = 'failed' then
    update contract_state set failures = failures + 1, last_failure = p_failure,
           opened_at = case when failures + 1 >= p_failures then p_now else opened_at end,
           trial = null, trial_until = null
      where contract = p_contract;
  elsif p_outcome = 'answered' then
    update contract_state set failures = 0, last_failure = null, opened_at = null, trial = null, trial_until = null
      where contract = p_contract and (failures > 0 or opened_at is not null or last_failure is not null);
  else
    update contract_state set trial = null, trial_until = null where contract = p_contract and trial = p_id;
  end if;
  if p_pause is not null then
    update contract_state set paused_until = p_now + p_pause, paused_why = p_pause_why where contract = p_contract;
  end if;
end $$;
`,
  },
  {
    name: "limits/5-stated-balances",
    // What the vendor itself says is left, and when, in milliseconds since 1970.
    up: `
alter table contract_state add column stated double precision, add column stated_at double precision;
`,
  },
  {
    name: "limits/6-steps",
    // A request before the last one of an answer has no number of failures: it says nothing about the vendor, or a vendor
    // whose second step always fails would be asked for ever.
    up: `
create or replace function leave_contract(
  p_contract text, p_id text, p_now double precision, p_outcome text, p_failure text, p_failures int,
  p_pause double precision, p_pause_why text, p_status int, p_ms int
) returns void language plpgsql as $$
begin
  delete from contract_call where id = p_id;
  update vendor_request set outcome = p_outcome, status = p_status, ms = p_ms,
         cost_fen = case when p_outcome = 'answered' then cost_fen else 0 end
    where id = p_id;
  if p_outcome = 'failed' then
    update contract_state set failures = failures + 1, last_failure = p_failure,
           opened_at = case when failures + 1 >= p_failures then p_now else opened_at end,
           trial = null, trial_until = null
      where contract = p_contract;
  elsif p_outcome = 'answered' and p_failures is not null then
    update contract_state set failures = 0, last_failure = null, opened_at = null, trial = null, trial_until = null
      where contract = p_contract and (failures > 0 or opened_at is not null or last_failure is not null);
  else
    update contract_state set trial = null, trial_until = null where contract = p_contract and trial = p_id;
  end if;
  if p_pause is not null then
    update contract_state set paused_until = p_now + p_pause, paused_why = p_pause_why where contract = p_contract;
  end if;
end $$;
`,
  },
  {
    name: "limits/7-unanswered",
    // A request that got no answer keeps its cost: the vendor may have done it after our time limit, or after the caller
    // had gone.
    up: `
create or replace function leave_contract(
  p_contract text, p_id text, p_now double precision, p_outcome text, p_failure text, p_failures int,
  p_pause double precision, p_pause_why text, p_status int, p_ms int
) returns void language plpgsql as $$
declare
  v_outcome text;
begin
  -- \`…_unanswered\`: it was sent, and nobody knows whether the vendor did what it charges for.
  v_outcome := split_part(p_outcome, '_', 1);
  delete from contract_call where id = p_id;
  update vendor_request set outcome = v_outcome, status = p_status, ms = p_ms,
         cost_fen = case when p_outcome = 'answered' or p_outcome like '%\\_unanswered' then cost_fen else 0 end
    where id = p_id;
  if v_outcome = 'failed' then
    update contract_state set failures = failures + 1, last_failure = p_failure,
           opened_at = case when failures + 1 >= p_failures then p_now else opened_at end,
           trial = null, trial_until = null
      where contract = p_contract;
  elsif v_outcome = 'answered' and p_failures is not null then
    update contract_state set failures = 0, last_failure = null, opened_at = null, trial = null, trial_until = null
      where contract = p_contract and (failures > 0 or opened_at is not null or last_failure is not null);
  else
    update contract_state set trial = null, trial_until = null where contract = p_contract and trial = p_id;
  end if;
  if p_pause is not null then
    update contract_state set paused_until = p_now + p_pause, paused_why = p_pause_why where contract = p_contract;
  end if;
end $$;
`,
  },
];
