import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "@dataq/contract";
import { claimKey, freeKey } from "../ledger/idempotency.ts";
import { untilKnown } from "../ledger/until-known.ts";
import { type Call, fingerprintOf } from "./call.ts";
import { readKept } from "./kept-reply.ts";
import type { PipelineParts } from "./parts.ts";
import type { Payload } from "./payload.ts";

/** How long a second call with the same Idempotency-Key waits for the first. */
const TWIN_LIMIT_MS = 30_000;

/**
 * Answers a call under its Idempotency-Key, if it has one: a retry with the same key gets the same answer and is not
 * charged. Only a final outcome is stored: an answer, or a 4xx after the hold. After 402, 429 and 5xx the key is free
 * again.
 */
export async function underKey<Answer>(
  parts: PipelineParts,
  call: Call,
  now: Date,
  work: {
    /** `key` is undefined for a call without one. */
    readonly run: (key: string | undefined) => Promise<Answer>;
    readonly replay: (payload: Payload) => Promise<Answer>;
  },
): Promise<Answer> {
  if (call.idempotencyKey === undefined) return work.run(undefined);
  const key = digestOf(call.idempotencyKey);
  const accountId = call.principal.account.id;
  const claim = {
    accountId,
    key,
    bodySha256: fingerprintOf(call),
    requestId: call.requestId,
    instanceId: parts.instance.id,
    now,
  };
  const end = performance.now() + TWIN_LIMIT_MS;
  parts.failpoint("before_claim");
  // The answer to a claim may be lost. If the claim stayed, it would block every retry.
  const ask = () =>
    untilKnown(() => claimKey(parts.database, claim)).catch((error: unknown) => {
      void release(parts, claim);
      throw error;
    });
  let found = await ask();
  while (found.state === "running" && performance.now() < end && !call.signal.aborted) {
    await sleep(25);
    found = await ask();
  }
  if (found.state === "running") throw new Failure("idempotency_conflict");
  if (found.state === "mismatch") throw new Failure("idempotency_mismatch");
  if (found.state === "finished") {
    const kept = readKept(found.outcome);
    if ("code" in kept) throw new Failure(kept.code, { ...kept.details, replayed: true });
    return work.replay(kept.payload);
  }
  parts.failpoint("after_claim");
  try {
    return await work.run(key);
  } catch (error) {
    await release(parts, claim);
    throw error;
  }
}

/**
 * Frees a key without an outcome. While the database is away, it goes on in the background: a key that stays claimed
 * would refuse every retry for minutes.
 */
async function release({ database }: PipelineParts, claim: KeyOfCall): Promise<void> {
  const free = () => freeKey(database, claim.accountId, claim.key, claim.requestId);
  const later = async () => {
    for (let tries = 0; tries < RELEASE_TRIES; tries++) {
      await sleep(RELEASE_EVERY_MS, undefined, { ref: false });
      if (
        await free().then(
          () => true,
          () => false,
        )
      )
        return;
    }
  };
  // The caller gets the error of the call at once.
  await free().catch(() => void later());
}

type KeyOfCall = { readonly accountId: string; readonly key: string; readonly requestId: string };

/** After five minutes, recovery frees the key. */
const RELEASE_TRIES = 300;
const RELEASE_EVERY_MS = 1_000;

/** Callers may put anything into their keys, so only a digest is stored. */
function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}
