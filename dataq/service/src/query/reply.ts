import type { Usage } from "@dataq/contract";
import type { Balance } from "../ledger/balance.ts";
import type { PriceVersion } from "../ledger/price.ts";
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
    cache,
  };
}

export function usageOf(price: PriceVersion, due: Charge, balance: Balance): Usage {
  return {
    tokens: due.tokens,
    list_tokens: price.tokens,
    cached: due.reason === "cache_hit",
    billed: due.tokens > 0,
    reason: due.reason,
    balance: balance.balance,
    trial_balance: balance.trialBalance,
  };
}

export async function readBalance(parts: PipelineParts, accountId: string, now: Date): Promise<Balance> {
  const wallet = await readWallet(parts.database, accountId, now);
  if (!wallet) throw new Error(`The account ${accountId} has no wallet.`);
  return wallet;
}
