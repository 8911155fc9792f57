import { findOperation, tokensPerCny } from "@dataq/contract";
import {
  type balance,
  type ownAccount,
  type pricing,
  type redeemed,
  redemption,
  type Sent,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { findAccount } from "../../accounts/account.ts";
import { redeemVoucher } from "../../accounts/voucher.ts";
import { inTransaction } from "../../database/transaction.ts";
import { inForceAt } from "../../ledger/price.ts";
import { readBudgetLeft } from "../../ledger/session-spend.ts";
import { readWallet } from "../../ledger/wallet.ts";
import { limitsOf } from "../../limits/tier.ts";
import { check, readJson } from "../body.ts";
import { readBudget } from "../budget.ts";
import { authorOf, principalOf } from "../caller.ts";
import { answeredBy } from "../docs/offer.ts";
import type { HttpParts } from "../parts.ts";
import { keyBody } from "./keys.ts";

/** The account's own data. These routes never cost tokens, and work with an empty balance. */
export function addAccountRoutes(app: FastifyInstance, parts: HttpParts): void {
  app.get("/v1/balance", async (request): Promise<Sent<typeof balance>> => {
    const principal = principalOf(request);
    const { id } = principal.account;
    const budget = readBudget(request, principal);
    return {
      ...(await balanceBody(parts, id)),
      ...(budget && { budget_left: await readBudgetLeft(parts.database, id, budget, parts.clock()) }),
    };
  });

  app.get("/v1/account", async (request): Promise<Sent<typeof ownAccount>> => {
    const principal = principalOf(request);
    const account = (await findAccount(parts.database, principal.account.id))!;
    const limits = limitsOf(account.tier);
    return {
      id: account.id,
      name: account.name,
      email: account.email,
      role: account.role,
      tier: account.tier,
      created_at: account.createdAt,
      limits: {
        per_second: limits.perSecond,
        burst: limits.burst,
        concurrent: limits.concurrent,
        per_day: limits.perDay,
      },
      key: principal.key && keyBody(principal.key),
      balance: await balanceBody(parts, account.id),
    };
  });

  app.post("/v1/vouchers/redeem", async (request): Promise<Sent<typeof redeemed>> => {
    const { account } = principalOf(request);
    const { code } = check(redemption, readJson(request));
    const author = authorOf(parts, request);
    const tokens = await inTransaction(parts.database, (transaction) =>
      redeemVoucher(transaction, account.id, code, author),
    );
    return { tokens, ...(await balanceBody(parts, account.id)) };
  });

  // Prices are public, including announced ones.
  app.get("/v1/pricing", async (): Promise<Sent<typeof pricing>> => {
    const now = parts.clock();
    const versions = await parts.pipeline.prices.all(now);
    const current = versions.filter(
      (version) => version.effectiveFrom > now || inForceAt(versions, version.operation, now) === version,
    );
    return {
      data: await Promise.all(
        current.map(async (version) => {
          const { data, coverage } = await answeredBy(parts, version.operation);
          const pricedPer = findOperation(version.operation)?.pricedPer;
          return {
            operation: version.operation,
            tokens: version.tokens,
            cached_tokens: version.cachedTokens,
            ...(pricedPer !== undefined && { per: pricedPer }),
            version: version.version,
            effective_from: version.effectiveFrom,
            data,
            newest_day: coverage?.newest_day ?? null,
            coverage,
          };
        }),
      ),
      currency: "CNY",
      tokens_per_cny: tokensPerCny,
    };
  });
}

async function balanceBody(parts: HttpParts, accountId: string): Promise<Sent<typeof balance>> {
  const wallet = await readWallet(parts.database, accountId, parts.clock());
  if (!wallet) throw new Error(`The account ${accountId} has no wallet.`);
  return {
    balance: wallet.balance,
    trial_balance: wallet.trialBalance,
    paid_balance: wallet.paidBalance,
    held: wallet.held,
    currency: "CNY",
    tokens_per_cny: tokensPerCny,
    trial_expires_at: wallet.trialExpiresAt,
    ...(wallet.creditLimit > 0 && { credit_balance: wallet.creditBalance, credit_limit: wallet.creditLimit }),
  };
}
