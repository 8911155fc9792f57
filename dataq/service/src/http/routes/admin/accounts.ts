import { Failure } from "@dataq/contract";
import {
  type account as accountSchema,
  accountsQuery,
  type accountWithWallet,
  adjustment,
  changedAccount,
  newAccount,
  newKeys,
  type Sent,
  topup,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import {
  type Account,
  createAccount,
  findAccount,
  listAccounts,
  payIn,
  setTier,
} from "../../../accounts/account.ts";
import { writeAudit } from "../../../accounts/audit.ts";
import { assertMayGrant, withBounds } from "../../../accounts/principal.ts";
import { inTransaction } from "../../../database/transaction.ts";
import { adjust, setCreditLimit } from "../../../ledger/movement.ts";
import { ownNotes } from "../../../ledger/own-notes.ts";
import { readWallet, setFrozen, type Wallet } from "../../../ledger/wallet.ts";
import { check, readJson } from "../../body.ts";
import { authorOf, principalOf } from "../../caller.ts";
import type { HttpParts } from "../../parts.ts";
import { createdBody } from "../keys.ts";

/** Accounts, their keys and their balances, for operators. */
export function addAdminAccountRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database, keys } = parts;
  const accountOf = async (id: string): Promise<Account> => {
    const account = await findAccount(database, id);
    if (!account) throw new Failure("not_found", { what: `The account ${id.slice(0, 64)}` });
    return account;
  };
  const withWallet = async (account: Account): Promise<Sent<typeof accountWithWallet>> => {
    const wallet = await readWallet(database, account.id, parts.clock());
    return { ...accountBody(account), wallet: wallet ? walletBody(wallet) : null };
  };

  app.get("/admin/v1/accounts", async (request) => {
    const { cursor, limit, search } = check(accountsQuery, request.query);
    const accounts = await listAccounts(database.reads.recent, limit + 1, { after: cursor, search });
    const shown = accounts.slice(0, limit);
    return { data: shown.map(accountBody), next_cursor: accounts.length > limit ? shown.at(-1)!.id : null };
  });

  app.post("/admin/v1/accounts", async (request, reply) => {
    const wanted = check(newAccount, readJson(request));
    const author = authorOf(parts, request);
    const made = await inTransaction(database, async (transaction) => {
      const account = await createAccount(transaction, wanted, author);
      const texts: string[] = [];
      for (let i = 0; i < wanted.keys; i++)
        texts.push((await keys.create(transaction, account.id, {}, author)).text);
      return { account_id: account.id, keys: texts };
    });
    return reply.code(201).header("cache-control", "no-store").send(made);
  });

  app.get<{ Params: { id: string } }>("/admin/v1/accounts/:id", async (request) =>
    withWallet(await accountOf(request.params.id)),
  );

  app.patch<{ Params: { id: string } }>("/admin/v1/accounts/:id", async (request) => {
    const { id } = await accountOf(request.params.id);
    const { tier, frozen, credit_limit } = check(changedAccount, readJson(request));
    const author = authorOf(parts, request);
    await inTransaction(database, async (transaction) => {
      if (tier) await setTier(transaction, id, tier, author);
      if (frozen !== undefined) {
        await setFrozen(transaction, id, frozen);
        const action = frozen ? "account.freeze" : "account.unfreeze";
        await writeAudit(transaction, author, action, id, null, null);
      }
      if (credit_limit !== undefined) {
        const why = { actor: author.actor, note: ownNotes.creditLine, now: author.now };
        await setCreditLimit(transaction, id, credit_limit, why);
        await writeAudit(transaction, author, "account.credit", id, null, { credit_limit });
      }
    });
    return withWallet(await accountOf(id));
  });

  app.post<{ Params: { id: string } }>("/admin/v1/accounts/:id/keys", async (request, reply) => {
    const principal = principalOf(request);
    const { id, role } = await accountOf(request.params.id);
    const { count, monthly_cap, ...rest } = check(newKeys, readJson(request, { whenEmpty: {} }));
    const asked = { ...rest, monthlyCap: monthly_cap };
    // A key of an admin account can do what operators can, so the rules for one's own keys apply.
    const wanted = role === "admin" ? withBounds(principal, asked) : asked;
    if (role === "admin") assertMayGrant(principal, withBounds(principal, asked), "scopes");
    const author = authorOf(parts, request);
    const data = await inTransaction(database, async (transaction) => {
      const made = [];
      for (let i = 0; i < count; i++)
        made.push(createdBody(await keys.create(transaction, id, wanted, author)));
      return made;
    });
    reply.code(201).header("cache-control", "no-store");
    return { account_id: id, keys: data.map(({ key }) => key), data };
  });

  app.post<{ Params: { id: string } }>("/admin/v1/accounts/:id/adjust", async (request) => {
    const { id } = await accountOf(request.params.id);
    const wanted = check(adjustment, readJson(request));
    const author = authorOf(parts, request);
    const why = { actor: author.actor, note: wanted.reason, now: author.now };
    const { balance } = await inTransaction(database, async (transaction) => {
      await writeAudit(transaction, author, "ledger.adjust", id, null, wanted);
      return adjust(transaction, id, wanted.tokens, why);
    });
    return { account_id: id, balance };
  });

  app.post<{ Params: { id: string } }>("/admin/v1/accounts/:id/topups", async (request, reply) => {
    const { id } = await accountOf(request.params.id);
    const { note = ownNotes.byOperator, ...rest } = check(topup, readJson(request));
    const wanted = { ...rest, note };
    const author = authorOf(parts, request);
    const payment = { ...wanted, reference: `manual:${wanted.reference}` };
    await inTransaction(database, async (transaction) => {
      if (!(await payIn(transaction, id, payment, author)))
        throw new Failure("already_exists", { what: `A top-up with the reference ${wanted.reference}` });
      await writeAudit(transaction, author, "ledger.topup", id, null, wanted);
    });
    const { balance } = (await readWallet(database, id, author.now))!;
    return reply.code(201).send({ account_id: id, tokens: wanted.tokens, balance });
  });
}

function accountBody(account: Account): Sent<typeof accountSchema> {
  const { id, name, email, role, tier, createdAt, closedAt } = account;
  return { id, name, email, role, tier, created_at: createdAt, closed_at: closedAt };
}

function walletBody(wallet: Wallet): Sent<typeof accountWithWallet>["wallet"] {
  return {
    balance: wallet.balance,
    trial_balance: wallet.trialBalance,
    paid_balance: wallet.paidBalance,
    credit_balance: wallet.creditBalance,
    credit_limit: wallet.creditLimit,
    held: wallet.held,
    trial_expires_at: wallet.trialExpiresAt,
    frozen: wallet.frozen,
  };
}
