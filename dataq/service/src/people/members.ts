import { createHash, randomBytes } from "node:crypto";
import { Failure } from "@dataq/contract";
import { type Author, writeAudit } from "../accounts/audit.ts";
import { endPersonsKeys, type TellEnded } from "../accounts/key.ts";
import type { Role } from "../accounts/scope.ts";
import type { Database } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { lockTransaction } from "../database/locks.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";

/** A person who acts for an account. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  /** Whether single sign-on gave the role, and changes it. */
  readonly isFromProvider: boolean;
  readonly createdAt: Date;
}

/** An invited address. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly expiresAt: Date;
}

const INVITATION_LIFE_MS = 7 * 86_400_000;

export async function listMembers(database: Database, accountId: string): Promise<Member[]> {
  const found = await database.pool.query<Member>(
    `select u."id", u."name", u."email", m.role, m.seen_at is not null as "isFromProvider",
       m.created_at as "createdAt" from people.member m
     join people."user" u on u."id" = m.user_id where m.account_id = $1 order by m.created_at, u."id"`,
    [accountId],
  );
  return found.rows;
}

export async function listInvitations(
  database: Database,
  accountId: string,
  now: Date,
): Promise<Invitation[]> {
  const found = await database.pool.query<Invitation>(
    `select id, email, role, expires_at as "expiresAt" from people.invitation
     where account_id = $1 and expires_at > $2 order by id`,
    [accountId, now],
  );
  return found.rows;
}

/** Throws unless the caller may grant or remove this role. */
export type PermitRole = (role: Role) => void;

/**
 * Invites an address. Only this result contains the token. Only the person with that address can use it, once. A
 * second invitation of an address replaces the first.
 */
export async function invite(
  database: Database,
  accountId: string,
  wanted: { readonly email: string; readonly role: Role },
  author: Author,
  permit: PermitRole,
): Promise<{ invitation: Invitation; token: string }> {
  permit(wanted.role);
  const token = randomBytes(24).toString("base64url");
  const invitation: Invitation = {
    id: makeIdentifier("inv", author.now),
    email: wanted.email.toLowerCase(),
    role: wanted.role,
    expiresAt: new Date(author.now.getTime() + INVITATION_LIFE_MS),
  };
  await inTransaction(database, async (transaction) => {
    const replaced = await transaction.query<{ role: Role }>(
      "delete from people.invitation where account_id = $1 and email = $2 returning role",
      [accountId, invitation.email],
    );
    for (const { role } of replaced.rows) permit(role);
    await transaction.query(
      `insert into people.invitation (id, token_sha256, account_id, email, role, expires_at)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (account_id, email) do update set id = excluded.id, token_sha256 = excluded.token_sha256,
         role = excluded.role, expires_at = excluded.expires_at`,
      [invitation.id, digestOf(token), accountId, invitation.email, invitation.role, invitation.expiresAt],
    );
    await writeAudit(transaction, author, "member.invite", accountId, null, wanted);
  });
  return { invitation, token };
}

export async function isInvited(database: Database, email: string, now: Date): Promise<boolean> {
  const found = await database.pool.query(
    "select from people.invitation where email = lower($1) and expires_at > $2 limit 1",
    [email, now],
  );
  return found.rowCount === 1;
}

export async function withdrawInvitation(
  database: Database,
  accountId: string,
  id: string,
  author: Author,
  permit: PermitRole,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const gone = await transaction.query<{ role: Role }>(
      "delete from people.invitation where account_id = $1 and id = $2 returning role",
      [accountId, id],
    );
    if (!gone.rows[0]) throw new Failure("not_found", { what: "The invitation" });
    permit(gone.rows[0].role);
    await writeAudit(transaction, author, "member.withdraw", accountId, null, { id });
  });
}

/** Makes the invited person a member who acts for the account from now on. Returns the account. */
export async function acceptInvitation(
  database: Database,
  token: string,
  person: { readonly id: string; readonly email: string },
  author: Author,
): Promise<string> {
  return inTransaction(database, async (transaction) => {
    const taken = await transaction.query<{ account_id: string; role: Role }>(
      `with taken as (
         delete from people.invitation where token_sha256 = $1 and email = lower($2) and expires_at > $3
         returning account_id, role
       ), joined as (
         insert into people.member (user_id, account_id, role, created_at)
         select $4, account_id, role, $3 from taken on conflict do nothing
       ), acting as (
         update people."user" set "accountId" = (select account_id from taken)
         where "id" = $4 and exists (select from taken)
       ) select account_id, role from taken`,
      [digestOf(token), person.email, author.now, person.id],
    );
    const joined = taken.rows[0];
    if (!joined) throw new Failure("invalid_invitation");
    await writeAudit(transaction, author, "member.join", joined.account_id, null, { role: joined.role });
    return joined.account_id;
  });
}

/** Ends the keys of the person that could do more than the new role. */
export async function setMemberRole(
  database: Database,
  accountId: string,
  id: string,
  role: Role,
  author: Author,
  permit: PermitRole,
  tell: TellEnded,
): Promise<void> {
  permit(role);
  await changeMember(database, accountId, id, async (transaction, before) => {
    permit(before);
    // What is set by hand is no longer the provider's.
    await transaction.query(
      "update people.member set role = $3, seen_at = null where account_id = $1 and user_id = $2",
      [accountId, id, role],
    );
    const after = { account: accountId, role };
    await writeAudit(transaction, author, "member.role", id, { role: before }, after);
    await endPersonsKeys(transaction, { accountId, personId: id, role }, author, tell);
  });
}

/**
 * Removes a member. From their next request on, the person acts for another of their accounts, or for none. Their keys
 * end.
 */
export async function removeMember(
  database: Database,
  accountId: string,
  id: string,
  author: Author,
  permit: PermitRole,
  tell: TellEnded,
): Promise<void> {
  await changeMember(database, accountId, id, async (transaction, before) => {
    permit(before);
    await endMembership(transaction, accountId, id, before, author, tell);
  });
}

async function endMembership(
  transaction: Transaction,
  accountId: string,
  id: string,
  role: Role,
  author: Author,
  tell: TellEnded,
): Promise<void> {
  await transaction.query("delete from people.member where account_id = $1 and user_id = $2", [
    accountId,
    id,
  ]);
  await transaction.query(
    `update people."user" set "accountId" =
       (select account_id from people.member where user_id = $2 order by created_at limit 1)
     where "id" = $2 and "accountId" = $1`,
    [accountId, id],
  );
  await writeAudit(transaction, author, "member.remove", id, { role }, { account: accountId });
  await endPersonsKeys(transaction, { accountId, personId: id }, author, tell);
}

/**
 * Gives a person the role in the operator's account that the provider of single sign-on says. A role that was given by
 * hand stays. The person's other sessions end, because the role counts only in those that the provider began, and keys
 * that could do more than the role.
 */
export async function giveProvidersRole(
  transaction: Transaction,
  id: string,
  role: Role,
  author: Author,
  tell: TellEnded,
): Promise<void> {
  const found = await transaction.query<{ account: string; role: Role | null; is_own: boolean | null }>(
    `select a.id as account, m.role, m.seen_at is not null as is_own
     from (select id from account where role = 'admin' order by id limit 1) a
     left join people.member m on m.account_id = a.id and m.user_id = $1`,
    [id],
  );
  const { account, role: before, is_own } = found.rows[0]!;
  if (before !== null && !is_own) return;
  await transaction.query(
    `insert into people.member (user_id, account_id, role, created_at, seen_at) values ($1, $2, $3, $4, $4)
     on conflict (user_id, account_id) do update set role = excluded.role, seen_at = excluded.seen_at`,
    [id, account, role, author.now],
  );
  await transaction.query(`delete from people."session" where "userId" = $1 and "ssoUntil" is null`, [id]);
  if (before === null) {
    await transaction.query(`update people."user" set "accountId" = $2 where "id" = $1`, [id, account]);
    await writeAudit(transaction, author, "member.join", account, null, { role, by: "sso" });
  } else if (before !== role)
    await writeAudit(transaction, author, "member.role", id, { role: before }, { account, role, by: "sso" });
  await endPersonsKeys(transaction, { accountId: account, personId: id, role }, author, tell);
}

/**
 * Takes the role away that the provider gave. An account may lose its last owner: the machine still has one. The
 * person's keys end.
 */
export async function dropProvidersRole(
  transaction: Transaction,
  id: string,
  author: Author,
  tell: TellEnded,
): Promise<void> {
  const own = await transaction.query<{ account_id: string; role: Role }>(
    "select account_id, role from people.member where user_id = $1 and seen_at is not null for update",
    [id],
  );
  for (const { account_id, role } of own.rows)
    await endMembership(transaction, account_id, id, role, author, tell);
  if (own.rows.length > 0) await transaction.query(`delete from people."session" where "userId" = $1`, [id]);
}

/** Takes the roles of those away who have not come from the provider since a time. Their keys end. */
export async function dropAbsent(database: Database, since: Date, now: Date, tell: TellEnded): Promise<void> {
  const absent = await database.pool.query<{ user_id: string }>(
    "select distinct user_id from people.member where seen_at < $1 limit 100",
    [since],
  );
  for (const { user_id } of absent.rows)
    await inTransaction(database, async (transaction) => {
      await lockTransaction(transaction, "person", user_id);
      const still = await transaction.query(
        "select from people.member where user_id = $1 and seen_at < $2 limit 1",
        [user_id, since],
      );
      if (still.rowCount === 1) await dropProvidersRole(transaction, user_id, { actor: "system", now }, tell);
    });
}

/** Whether a person has a role from the provider, and so comes in by the provider only. */
export async function isProviders(database: Database, id: string): Promise<boolean> {
  const found = await database.pool.query(
    "select from people.member where user_id = $1 and seen_at is not null limit 1",
    [id],
  );
  return found.rowCount === 1;
}

/** The accounts that a person may act for. */
export async function accountsOf(
  database: Database,
  personId: string,
): Promise<{ readonly id: string; readonly name: string; readonly role: Role }[]> {
  const found = await database.pool.query<{ id: string; name: string; role: Role }>(
    `select a.id, a.name, m.role from people.member m join account a on a.id = m.account_id
     where m.user_id = $1 order by m.created_at, a.id`,
    [personId],
  );
  return found.rows;
}

/** Switches all sessions of a person to another of their accounts. */
export async function actFor(database: Database, personId: string, accountId: string): Promise<void> {
  const changed = await database.pool.query(
    `update people."user" u set "accountId" = $2 where u."id" = $1
       and exists (select from people.member m where m.user_id = $1 and m.account_id = $2)`,
    [personId, accountId],
  );
  if (changed.rowCount === 0) throw new Failure("not_found", { what: "The account" });
}

/** Changes one member at a time, so that an account always keeps an owner. */
async function changeMember<Result>(
  database: Database,
  accountId: string,
  id: string,
  change: (transaction: Transaction, before: Role) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (transaction) => {
    await transaction.query("select from account where id = $1 for update", [accountId]);
    const found = await transaction.query<{ role: Role }>(
      "select role from people.member where account_id = $1 and user_id = $2",
      [accountId, id],
    );
    if (!found.rows[0]) throw new Failure("not_found", { what: "The member" });
    const result = await change(transaction, found.rows[0].role);
    const owners = await transaction.query(
      "select from people.member where account_id = $1 and role = 'owner' limit 1",
      [accountId],
    );
    if (owners.rowCount === 0) throw new Failure("last_owner");
    return result;
  });
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
