import type { Usage } from "@dataq/contract";
import type { Balance } from "../ledger/balance.ts";
import { readBudgetLeft } from "../ledger/session-spend.ts";
import { readWallet } from "../ledger/wallet.ts";
import type { Call } from "./call.ts";
import { completeEnvelope } from "./envelope.ts";
import type { PipelineParts } from "./parts.ts";
import type { Payload } from "./payload.ts";
import type { Question } from "./question.ts";
import { type Charge, listTokensOf } from "./tariff.ts";

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
    json: completeEnvelope(payload, request, call, usage),
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
  return usageWith(listTokensOf(price), due, balance, await budgetLeftOf(parts, call));
}

/** What is left of the session's budget, for a call with one. */
export async function budgetLeftOf(
  { database, clock }: PipelineParts,
  { budget, principal }: Call,
): Promise<number | undefined> {
  // The call is charged by now, so it must not fail if this cannot be read.
  return budget && readBudgetLeft(database, principal.account.id, budget, clock()).catch(() => undefined);
}

export function usageWith(
  listTokens: number,
  due: Charge,
  balance: Balance,
  left: number | undefined,
): Usage {
  return {
    tokens: due.tokens,
    list_tokens: listTokens,
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
