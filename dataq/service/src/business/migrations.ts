import type { Migration } from "../database/migrations.ts";

/** What the operator's board is summed from, and what operators write about accounts. */
export const businessMigrations: readonly Migration[] = [
  {
    name: "business/1-board",
    up: `
-- What was earned by each charge and given back by each refund, and the part of it that was a trial or a promotion. The
-- charge for several queries is a row for each operation that its note names; of it, trial tokens come first, as they
-- were spent first.
create view earned as
with charge as not materialized (
  select c.account_id, c.at, c.kind, c.request_id, c.operation, c.note, c.cached, c.earnings,
         case when c.kind = 'capture' then -(h.trial + c.trial) else -c.trial end as trial
  from entry c left join entry h on c.kind = 'capture' and h.request_id = c.request_id and h.kind = 'hold'
  where c.kind in ('capture', 'reverse')
)
select account_id, at, kind, request_id, operation, cached, earnings, trial from charge
where kind = 'reverse' or operation <> 'queries'
union all
select account_id, at, kind, request_id, part[1], part[3] is not null, part[5]::bigint,
       greatest(0, least(part[5]::bigint, trial - (sum(part[5]::bigint) over before - part[5]::bigint)))
from charge, regexp_matches(note, '([a-z_]+) v(\\d+)( cached)? × (\\d+): (\\d+)', 'g') with ordinality as parts(part, place)
where kind = 'capture' and operation = 'queries'
window before as (partition by request_id, account_id, at order by place);

-- Money that came in and went back, without vouchers and openings, for which nobody paid here.
create view cash as
select account_id, at, kind, reference, -payments as tokens, actor,
       case when kind <> 'topup' then kind
            when reference like 'voucher:%' then 'voucher'
            when reference like 'opening:%' then 'opening'
            when reference like 'manual:%' then 'manual'
            else 'payment' end as source
from entry where kind in ('topup', 'refund', 'chargeback');

create index request_time on request using brin (at) with (autosummarize = on);
create index vendor_request_time on vendor_request using brin (sent_at) with (autosummarize = on);

create table account_note (
  id text primary key,
  account_id text not null references account,
  at timestamptz not null,
  actor text not null,
  text text not null
);
create index account_note_account on account_note (account_id, id);
comment on table account_note is 'append-only';

-- Large sums that one operator asked for and another approves by sending the same request.
create table approval (
  id text primary key,
  path text not null,
  body jsonb not null,
  -- Of path and body.
  sha256 bytea not null,
  account_id text not null,
  fen numeric not null,
  state text not null check (state in ('waiting', 'approved', 'rejected')),
  asked_by text not null,
  asked_at timestamptz not null,
  decided_by text check (decided_by <> asked_by or state = 'rejected'),
  decided_at timestamptz
);
create unique index approval_waiting on approval (sha256) where state = 'waiting';
`,
  },
  {
    name: "business/2-sums-in-flight",
    up: `
-- Sums that were let through and are being booked: the next one for the same account must see them.
create table sum_in_flight (
  id text primary key,
  account_id text not null,
  fen numeric not null,
  begun_at timestamptz not null
);
create index sum_in_flight_account on sum_in_flight (account_id);
alter table approval add column method text not null default 'POST';
create index entry_by_hand on entry (at) where kind = 'topup' and reference like 'opening:%';
`,
  },
  {
    name: "business/3-sums-of-a-person",
    up: `
-- A sum stays for a day, so that small ones count together: those of an account, and those of a person.
alter table sum_in_flight
  add column person text,
  -- Null: one person moved it alone.
  add column approval_id text;
create index sum_in_flight_person on sum_in_flight (person);
-- Null: an offer, whose sum nobody knows.
alter table approval alter column fen drop not null;
`,
  },
];
