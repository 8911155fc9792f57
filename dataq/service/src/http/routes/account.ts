import { chinaDate, findOperation, operations, tokensPerCny } from "@dataq/contract";
import {
  type balance,
  type ownAccount,
  type ownPrice,
  type pricing,
  type redeemed,
  redemption,
  type Sent,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { findAccount } from "../../accounts/account.ts";
import { redeemCoupon } from "../../accounts/coupon.ts";
import { redeemVoucher } from "../../accounts/voucher.ts";
import { inTransaction } from "../../database/transaction.ts";
import { freeCallsLeft } from "../../ledger/free-calls.ts";
import { listOffers } from "../../ledger/package.ts";
import { readBudgetLeft } from "../../ledger/session-spend.ts";
import { readWallet } from "../../ledger/wallet.ts";
import { limitsOf } from "../../limits/tier.ts";
import { listTokensOf } from "../../query/tariff.ts";
import { check, readJson } from "../body.ts";
import { readBudget } from "../budget.ts";
import { authorOf, principalOf } from "../caller.ts";
import { answeredBy } from "../docs/offer.ts";
import type { HttpParts } from "../parts.ts";
import { keyBody } from "./keys.ts";
import { offerBody } from "./payments.ts";

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
      closed_at: account.closedAt,
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
    // Codes of vouchers begin with DQ, those of coupons never.
    const isVoucher = /^\s*dq/i.test(code);
    const made = await inTransaction(parts.database, async (transaction) =>
      isVoucher
        ? { tokens: await redeemVoucher(transaction, account.id, code, author) }
        : redeemCoupon(transaction, account.id, code, author),
    );
    parts.pipeline.terms.forget();
    return { ...made, ...(await balanceBody(parts, account.id)) };
  });

  app.get("/v1/prices", async (request): Promise<{ data: Sent<typeof ownPrice>[] }> => {
    const { id } = principalOf(request).account;
    const now = parts.clock();
    const { terms } = parts.pipeline;
    const priceOf = async ({ name }: { readonly name: string }): Promise<Sent<typeof ownPrice>> => {
      const price = await terms.priceOf(id, name, now);
      const free = await terms.freeCallsOf(name, now);
      const today = { accountId: id, operation: name, day: chinaDate(now) };
      return {
        operation: name,
        tokens: price.tokens,
        cached_tokens: price.cachedTokens,
        list_tokens: listTokensOf(price),
        reason: price.special?.reason ?? null,
        free_calls: free,
        free_left: free === 0 ? 0 : await freeCallsLeft(parts.database, today, free),
      };
    };
    return { data: await Promise.all(operations.map(priceOf)) };
  });

  // Prices are public, including announced ones.
  app.get("/v1/pricing", async (): Promise<Sent<typeof pricing>> => {
    const now = parts.clock();
    const versions = await parts.pipeline.prices.all(now);
    const plans = await parts.pipeline.terms.plans(now);
    const current = inForceOrLater(versions, now, ({ operation }) => operation);
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
      free_calls: inForceOrLater(plans.freeTiers, now, ({ operation }) => operation).map((tier) => ({
        operation: tier.operation,
        calls: tier.calls,
        version: tier.version,
        effective_from: tier.effectiveFrom,
      })),
      volume: inForceOrLater(plans.ladders, now, () => "").map(({ version, steps, effectiveFrom }) => ({
        version,
        steps: [...steps],
        effective_from: effectiveFrom,
      })),
      packages: (await listOffers(parts.database)).map(offerBody),
      currency: "CNY",
      tokens_per_cny: tokensPerCny,
    };
  });
}

/** The versions that count now, and those that will: one list for each name. */
function inForceOrLater<Version extends { readonly effectiveFrom: Date }>(
  versions: readonly Version[],
  now: Date,
  nameOf: (version: Version) => string,
): readonly Version[] {
  return versions.filter(
    (version) =>
      version.effectiveFrom > now ||
      versions.findLast((one) => nameOf(one) === nameOf(version) && one.effectiveFrom <= now) === version,
  );
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
    frozen: wallet.frozen,
    ...(wallet.creditLimit > 0 && { credit_balance: wallet.creditBalance, credit_limit: wallet.creditLimit }),
  };
}
