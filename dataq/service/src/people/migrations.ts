import type { Migration } from "../database/migrations.ts";

/**
 * The people who sign in to the console. better-auth requires these tables and columns; they are in a schema of their
 * own.
 */
export const peopleMigrations: readonly Migration[] = [
  {
    name: "people/1-tables",
    up: `
create schema people;

create table people."user" (
  "id" text primary key,
  "name" text not null,
  "email" text not null unique,
  "emailVerified" boolean not null,
  "image" text,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "twoFactorEnabled" boolean default false,
  -- The account that this person acts for at the moment; null until they are let in.
  "accountId" text references account,
  "isApproved" boolean not null default false,
  -- The owner of the machine, who enters by the link that the start prints and has no password.
  "isLocal" boolean not null default false
);

create table people."session" (
  "id" text primary key,
  "expiresAt" timestamptz not null,
  "token" text not null unique,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null,
  "ipAddress" text,
  "userAgent" text,
  "userId" text not null references people."user" on delete cascade
);
create index "session_userId_idx" on people."session" ("userId");

create table people."account" (
  "id" text primary key,
  "accountId" text not null,
  "providerId" text not null,
  "userId" text not null references people."user" on delete cascade,
  "accessToken" text,
  "refreshToken" text,
  "idToken" text,
  "accessTokenExpiresAt" timestamptz,
  "refreshTokenExpiresAt" timestamptz,
  "scope" text,
  "password" text,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null
);
create index "account_userId_idx" on people."account" ("userId");

create table people."verification" (
  "id" text primary key,
  "identifier" text not null,
  "value" text not null,
  "expiresAt" timestamptz not null,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now()
);
create index "verification_identifier_idx" on people."verification" ("identifier");

create table people."twoFactor" (
  "id" text primary key,
  "secret" text not null,
  "backupCodes" text not null,
  "userId" text not null references people."user" on delete cascade,
  "verified" boolean default true,
  "failedVerificationCount" integer default 0,
  "lockedUntil" timestamptz
);
create index "twoFactor_secret_idx" on people."twoFactor" ("secret");
create index "twoFactor_userId_idx" on people."twoFactor" ("userId");

create unlogged table people."rateLimit" (
  "id" text primary key,
  "key" text not null unique,
  "count" integer not null,
  "lastRequest" bigint not null
);

create table people.local_link (
  token_sha256 bytea primary key,
  account_id text not null references account,
  expires_at timestamptz not null,
  used_at timestamptz
);
`,
  },
  {
    name: "people/2-members",
    up: `
create table people.member (
  user_id text not null references people."user" on delete cascade,
  account_id text not null references account,
  role text not null check (role in ('owner', 'developer', 'finance', 'read-only')),
  created_at timestamptz not null,
  primary key (user_id, account_id)
);
create index member_account on people.member (account_id);
insert into people.member select "id", "accountId", 'owner', "createdAt" from people."user" where "accountId" is not null;

create table people.invitation (
  id text primary key,
  token_sha256 bytea not null unique,
  account_id text not null references account,
  email text not null,
  role text not null check (role in ('owner', 'developer', 'finance', 'read-only')),
  expires_at timestamptz not null,
  unique (account_id, email)
);
create index invitation_email on people.invitation (email);
`,
  },
  {
    name: "people/3-support",
    // The older version answers a member with a role that it does not know with an error.
    contract: { oldest: "0.1.0" },
    up: `
alter table people.member drop constraint member_role_check;
alter table people.member add constraint member_role_check
  check (role in ('owner', 'developer', 'finance', 'read-only', 'support'));
alter table people.invitation drop constraint invitation_role_check;
alter table people.invitation add constraint invitation_role_check
  check (role in ('owner', 'developer', 'finance', 'read-only', 'support'));
`,
  },
  {
    name: "people/4-terms",
    up: `
create table people.terms_accepted (
  user_id text not null references people."user" on delete cascade,
  version text not null,
  at timestamptz not null,
  ip text,
  primary key (user_id, version)
);
`,
  },
  {
    name: "people/5-single-sign-on",
    up: `
-- The last time that the provider of single sign-on said that the person has this role; null for roles given by hand.
alter table people.member add column seen_at timestamptz;
-- When a session ends that the provider began, however much it is used.
alter table people."session" add column "ssoUntil" timestamptz;

create function people.keep_sso_until() returns trigger language plpgsql as $$
begin
  new."expiresAt" := least(new."expiresAt", new."ssoUntil");
  return new;
end $$;
create trigger keep_sso_until before insert or update on people."session"
  for each row when (new."ssoUntil" is not null) execute function people.keep_sso_until();
`,
  },
  {
    name: "people/6-provider-logout",
    up: `
-- The provider's own session that this one began with, which the provider may end.
alter table people."session" add column "ssoSid" text;
-- Logout tokens that were used; kept for as long as one may be used.
create table people.sso_logout (
  jti_sha256 bytea primary key,
  at timestamptz not null
);
`,
  },
  {
    name: "people/7-letters",
    up: `
-- Adds a job for each owner of an account, in the transaction of what they are told of. The text is written when it is sent.
create function people.write_to_owners(account text, about text, data jsonb) returns void language plpgsql as $$
declare owner record;
begin
  for owner in
    select u."email" from people.member m join people."user" u on u."id" = m.user_id
    where m.account_id = account and m.role = 'owner' and not u."isLocal"
  loop
    -- The task limits the attempts itself.
    perform graphile_worker.add_job('send_letter',
      json_build_object('to', owner."email", 'about', about, 'data', data, 'group', 'letters'),
      max_attempts => 100, flags => array['letters']);
  end loop;
end $$;
`,
  },
];
