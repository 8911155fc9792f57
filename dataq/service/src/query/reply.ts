import type { Usage } from "@dataq/contract";
import type { Balance } from "../ledger/balance.ts";
import { readBudgetLeft } from "../ledger/session-spend.ts";
import { readWallet } from "../ledger/wallet.ts";
import { completeEnvelope } from "./envelope.ts";
import type { PipelineParts } from "./parts.ts";
import type { Payload } from "./payload.ts";
import type { Question } from "./question.ts";
import type { Charge } from "./tariff.ts";

/** The answer to a call and the values for its headers. */
export interface Reply {
  /** The body as UTF-8. */
  readonly json: Buffer;
  readonly tokens: number;
  readonly balance: number;
  /** Set for a call with a budget. */
  readonly budgetLeft?: number;
  readonly cache: "HIT" | "MISS" | "BYPASS";
  /** Set for an answer from the cache. */
  readonly ageS?: number;
  readonly replayed?: true;
}

export function replyOf(
  payload: Payload,
  { call, request }: Pick<Question, "call" | "request">,
  usage: Usage,
  cache: Reply["cache"],
): Reply {
  return {
    json: completeEnvelope(payload, request.warnings, call.requestId, usage),
    tokens: usage.tokens,
    balance: usage.balance,
    ...(usage.budget_left !== undefined && { budgetLeft: usage.budget_left }),
    cache,
  };
}

export async function usageOf(
  parts: PipelineParts,
  { call, price }: Pick<Question, "call" | "price">,
  due: Charge,
  balance: Balance,
): Promise<Usage> {
  const { budget, principal } = call;
  // The call is charged by now, so it must not fail if this cannot be read.
  const left =
    budget &&
    (await readBudgetLeft(parts.database, principal.account.id, budget, parts.clock()).catch(
      () => undefined,
    ));
  return {
    tokens: due.tokens,
    list_tokens: price.tokens,
    cached: due.reason === "cache_hit",
    billed: due.tokens > 0,
    reason: due.reason,
    balance: balance.balance,
    trial_balance: balance.trialBalance,
    ...(left !== undefined && { budget_left: left }),
  };
}

export async function readBalance(parts: PipelineParts, accountId: string, now: Date): Promise<Balance> {
  const wallet = await readWallet(parts.database, accountId, now);
  if (!wallet) throw new Error(`The account ${accountId} has no wallet.`);
  return wallet;
}
