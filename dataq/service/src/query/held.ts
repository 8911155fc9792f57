import { chinaMonth, Failure } from "@dataq/contract";
import type { HoldRequest } from "../ledger/hold.ts";
import { type KeptOutcome, settle } from "../ledger/settlement.ts";
import type { Call } from "./call.ts";
import type { PipelineParts } from "./parts.ts";

/** A hold lives far longer than the longest call. The sweeper voids older ones. */
const HOLD_LIMIT_MS = 120_000;

/** The hold of a call. */
export function holdRequest(
  parts: PipelineParts,
  { requestId, principal, budget }: Call,
  what: Pick<HoldRequest, "operation" | "tokens" | "priceVersion" | "cached">,
): HoldRequest {
  const now = parts.clock();
  return {
    ...what,
    requestId,
    accountId: principal.account.id,
    keyId: principal.id,
    instanceId: parts.instance.id,
    now,
    deadline: new Date(now.getTime() + HOLD_LIMIT_MS),
    ...(budget && { budget }),
    ...(principal.project && { project: principal.project }),
    ...(principal.monthlyCap !== null && {
      cap: { keyId: principal.spendAs, tokens: principal.monthlyCap, month: chinaMonth(now) },
    }),
  };
}

/**
 * Whether the client has left and the answer would be lost. With a key, the answer is stored for the retry,
 * so that the caller does not pay twice.
 */
export function hasLeft(call: Call, key: string | undefined): boolean {
  return call.signal.aborted && key === undefined;
}

/**
 * A failed call is free. If this fails too, the sweeper releases the hold at its deadline. Throws `unavailable` if the
 * failure cannot be stored for a retry, because the key now belongs to another call: one key has one outcome.
 */
export async function giveBack(
  parts: PipelineParts,
  call: Call,
  reason: unknown,
  kept: KeptOutcome | undefined,
): Promise<void> {
  const note = reason instanceof Failure ? reason.code : "internal_error";
  parts.failpoint("before_settle");
  const accountId = call.principal.account.id;
  const end = { kind: "void", tokens: 0, note, now: parts.clock(), accountId } as const;
  const ended = await settle(parts.database, call.requestId, end, kept, parts.run);
  parts.failpoint("after_settle");
  if (ended || !kept) return;
  await settle(parts.database, call.requestId, end, undefined, parts.run);
  throw new Failure("unavailable", { retry_after: 1 });
}
