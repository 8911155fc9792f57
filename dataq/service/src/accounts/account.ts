import { Failure } from "@dataq/contract";
import type { AccountRole, Tier } from "@dataq/contract/wire";
import type { Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import type { Transaction } from "../database/transaction.ts";
import { grantTrial, openWallet, topUp } from "../ledger/movement.ts";
import { ownNotes } from "../ledger/own-notes.ts";
import { buyPackage } from "../ledger/package.ts";
import { type Author, writeAudit } from "./audit.ts";

export { type Tier, tiers } from "@dataq/contract/wire";

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: AccountRole;
  readonly tier: Tier;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
}

export interface NewAccount {
  readonly name: string;
  readonly email?: string | undefined;
  readonly role?: Account["role"];
  readonly tier?: Tier | undefined;
  /** Paid tokens to start with. If omitted, the account gets the trial. */
  readonly tokens?: number | undefined;
}

/** The trial, which an account gets once. */
export const trial = { tokens: 2_000_000, days: 90 } as const;

/**
 * Creates the account, its wallet with the trial or the opening tokens, and the audit line: all or none of them.
 */
export async function createAccount(
  transaction: Transaction,
  wanted: NewAccount,
  author: Author,
): Promise<Account> {
  const { now } = author;
  const account: Account = {
    id: makeIdentifier("acc", now),
    name: wanted.name,
    email: wanted.email ?? null,
    role: wanted.role ?? "customer",
    tier: wanted.tier ?? "trial",
    createdAt: now,
    closedAt: null,
  };
  try {
    await transaction.query(
      "insert into account (id, name, email, role, tier, created_at) values ($1, $2, $3, $4, $5, $6)",
      [account.id, account.name, account.email, account.role, account.tier, now],
    );
  } catch (error) {
    if ((error as { constraint?: string }).constraint === "account_email")
      throw new Failure("already_exists", { what: `An account with the email ${account.email}` }, error);
    throw error;
  }
  await openWallet(transaction, account.id, now);
  if (wanted.tokens === undefined) {
    const expiresAt = new Date(now.getTime() + trial.days * 86_400_000);
    const grant = { tokens: trial.tokens, expiresAt };
    await grantTrial(transaction, account.id, grant, reason(author, ownNotes.trial));
  } else if (wanted.tokens > 0) {
    const reference = `opening:${account.id}`;
    await topUp(transaction, account.id, wanted.tokens, reference, reason(author, ownNotes.opening));
  }
  await writeAudit(transaction, author, "account.create", account.id, null, { ...account });
  return account;
}

export async function findAccount(queries: Queries, id: string): Promise<Account | undefined> {
  return (await queries.query<Account>(`${SELECT} where id = $1`, [id])).rows[0];
}

/**
 * Lists accounts, newest first. `after` is the last ID of the previous page; `search` is part of a name or an
 * email, or a whole ID.
 */
export async function listAccounts(
  queries: Queries,
  limit: number,
  { after, search }: { readonly after?: string | undefined; readonly search?: string | undefined } = {},
): Promise<Account[]> {
  const found = await queries.query<Account>(
    `${SELECT} where ($2::text is null or id < $2)
       and ($3::text is null or id = $3 or position(lower($3) in lower(name || ' ' || coalesce(email, ''))) > 0)
     order by id desc limit $1`,
    [limit, after ?? null, search ?? null],
  );
  return found.rows;
}

export async function setTier(
  transaction: Transaction,
  id: string,
  tier: Tier,
  author: Author,
): Promise<void> {
  const before = await findAccount(transaction, id);
  if (!before) throw new Failure("not_found", { what: `The account ${id}` });
  if (before.tier === tier) return;
  await transaction.query("update account set tier = $2 where id = $1", [id, tier]);
  await writeAudit(transaction, author, "account.tier", id, { tier: before.tier }, { tier });
}

/**
 * Credits a payment. The first one also ends the rate limits of the trial. The same reference is credited once; returns
 * false the second time.
 */
export async function payIn(
  transaction: Transaction,
  accountId: string,
  payment: {
    readonly tokens: number;
    readonly reference: string;
    readonly note: string;
    /** The package that was bought; otherwise the tokens have no end. */
    readonly package?: { readonly paymentId: string; readonly priceTokens: number; readonly days: number };
  },
  author: Author,
): Promise<boolean> {
  const { tokens, reference, note } = payment;
  const why = reason(author, note);
  const isNew = payment.package
    ? await buyPackage(transaction, accountId, { tokens, reference, ...payment.package }, why)
    : await topUp(transaction, accountId, tokens, reference, why);
  if (!isNew) return false;
  if ((await findAccount(transaction, accountId))?.tier === "trial")
    await setTier(transaction, accountId, "standard", author);
  return true;
}

const SELECT = `select id, name, email, role, tier, created_at as "createdAt", closed_at as "closedAt" from account`;

function reason(author: Author, note: string) {
  return { actor: author.actor, note, now: author.now };
}
