import { tokensPerCny } from "@dataq/contract";
import type { FastifyInstance } from "fastify";
import { readWallet } from "../../ledger/wallet.ts";
import { admit, type HttpParts } from "../app.ts";

/** What an account may know of itself: never metered, and it works with nothing left. */
export function addAccountRoutes(app: FastifyInstance, parts: HttpParts): void {
  app.get("/v1/balance", async (request) => {
    const { account } = await admit(parts, request, "read:account");
    const wallet = await readWallet(parts.database, account.id, parts.clock());
    if (!wallet) throw new Error(`The account ${account.id} has no wallet.`);
    return {
      balance: wallet.balance,
      trial_balance: wallet.trialBalance,
      paid_balance: wallet.paidBalance,
      held: wallet.held,
      currency: "CNY",
      tokens_per_cny: tokensPerCny,
      trial_expires_at: wallet.trialExpiresAt,
      ...(wallet.creditLimit > 0 && {
        credit_balance: wallet.creditBalance,
        credit_limit: wallet.creditLimit,
      }),
    };
  });
}
