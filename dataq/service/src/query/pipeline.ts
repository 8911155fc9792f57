import { Failure } from "@dataq/contract";
import { charge, type HoldRequest, hold } from "../ledger/hold.ts";
import { freeKey } from "../ledger/idempotency.ts";
import { settle } from "../ledger/settlement.ts";
import { type CacheKey, type Kept, packed } from "./answer-cache.ts";
import type { Call } from "./call.ts";
import { writePayload } from "./envelope.ts";
import { dryRun } from "./estimate.ts";
import { giveBack, hasLeft, holdRequest } from "./held.ts";
import { isFinal, keptFailure, keptOutcome } from "./kept-reply.ts";
import type { PipelineParts } from "./parts.ts";
import type { Payload } from "./payload.ts";
import { type PricedAnswer, priceAnswer } from "./priced-answer.ts";
import { type Looked, lookAndTake, type Question, readQuestion, returnFree } from "./question.ts";
import { type Reply, readBalance, replyOf, usageOf } from "./reply.ts";
import { takeDirective } from "./sandbox.ts";
import { answerInSandbox } from "./sandbox-answer.ts";
import { notFound, runSource } from "./source-run.ts";
import { type Charge, chargeFor, freeTier } from "./tariff.ts";
import { underKey } from "./under-key.ts";

/** Everything after authentication and limits: validate → price → idempotency → cache → hold → run → settle. */
export async function answerCall(parts: PipelineParts, call: Call): Promise<Reply> {
  const isSandbox = call.principal.mode === "test";
  const { body, directive } = isSandbox ? takeDirective(call.body) : { body: call.body };
  const question = await readQuestion(parts, { ...call, body });
  if (question.request.dryRun) return dryRun(parts, question);
  if (isSandbox) return answerInSandbox(parts, question, directive);
  return underKey(parts, call, question.now, {
    run: (key) => answerOnce(parts, question, key),
    replay: replayOf(parts, question),
  });
}

function replayOf(parts: PipelineParts, question: Question) {
  return async (payload: Payload): Promise<Reply> => {
    const { call, now } = question;
    const balance = await readBalance(parts, call.principal.account.id, now);
    const usage = await usageOf(parts, question, { tokens: 0, reason: "replayed" }, balance);
    return { ...replyOf(payload, question, usage, "MISS"), replayed: true };
  };
}

async function answerOnce(parts: PipelineParts, question: Question, key?: string): Promise<Reply> {
  const { request, call } = question;
  let waitLimit: AbortSignal | undefined;
  for (;;) {
    const looked = await lookAndTake(parts, question);
    const { cacheKey, kept, quoted } = looked;
    if (quoted === freeTier) return answerInFreeTier(parts, question, looked, key);
    if (request.maxTokens !== undefined && quoted.tokens > request.maxTokens)
      throw new Failure("price_above_max", { required: quoted.tokens, max_tokens: request.maxTokens });
    if (kept) return answerFromCache(parts, question, kept, quoted, cacheKey!.bytes, key);
    if (request.cache === "only") throw new Failure("not_cached");
    if (quoted.tokens === 0) return answerFree(parts, question, quoted, key);
    if (!cacheKey || request.cache === "bypass") return runAndSettle(parts, question, quoted, cacheKey, key);
    // Of several simultaneous calls with the same question, one asks the source. The others find its answer in the
    // cache.
    const flight = parts.flights.join(cacheKey.bytes.toString("base64"));
    if (!flight.isLeader) {
      // Several sources may fail one after the other, so a waiting call gives up after the time limit of one.
      waitLimit ??= AbortSignal.timeout(parts.sourceLimitMs);
      await flight.landed(AbortSignal.any([call.signal, waitLimit])).catch((error: unknown) => {
        if (call.signal.aborted) throw error;
        throw new Failure("upstream_timeout", { operation: request.operation.name }, error);
      });
      continue;
    }
    try {
      return await runAndSettle(parts, question, quoted, cacheKey, key);
    } finally {
      flight.land();
    }
  }
}

/** Answers a call of the free tier, which counts only if it would have cost something. */
async function answerInFreeTier(
  parts: PipelineParts,
  question: Question,
  { kept, quoted }: Looked,
  key: string | undefined,
): Promise<Reply> {
  const { call, request, now } = question;
  let isUsed = false;
  try {
    if (kept === undefined && request.cache === "only") throw new Failure("not_cached");
    const answer = kept ? undefined : await priceAnswer(parts, question, quoted, key);
    const due = answer?.due ?? quoted;
    const balance = await readBalance(parts, call.principal.account.id, now);
    if (key !== undefined) await freeKey(parts.database, call.principal.account.id, key, call.requestId);
    const usage = await usageOf(parts, question, due, balance);
    const cache = request.cache === "bypass" ? "BYPASS" : "MISS";
    isUsed = due === freeTier;
    return replyOf(answer?.payload ?? kept!.payload, question, usage, cache);
  } finally {
    if (!isUsed) await returnFree(parts, question);
  }
}

/** A free call needs no hold. A retry with the same key is answered again. */
async function answerFree(
  parts: PipelineParts,
  question: Question,
  quoted: Charge,
  key: string | undefined,
): Promise<Reply> {
  const { call, request, now } = question;
  const accountId = call.principal.account.id;
  const answer = await runSource(parts, question, false);
  if (answer.outcome === "not_found") throw notFound(request, answer);
  const balance = await readBalance(parts, accountId, now);
  if (key !== undefined) await freeKey(parts.database, accountId, key, call.requestId);
  const due = chargeFor(quoted, answer, parts.chargeEmpty);
  const cache = request.cache === "bypass" ? "BYPASS" : "MISS";
  const usage = await usageOf(parts, question, due, balance);
  return replyOf(writePayload(request, answer), question, usage, cache);
}

/** The answer is already known, so hold and capture are one step. */
async function answerFromCache(
  parts: PipelineParts,
  question: Question,
  kept: Kept,
  quoted: Charge,
  cacheKey: Buffer,
  key: string | undefined,
): Promise<Reply> {
  const { call, now } = question;
  if (hasLeft(call, key)) throw new Failure("client_closed_request");
  parts.failpoint("before_hold");
  const balance = await charge(
    parts.database,
    holdOf(parts, question, quoted),
    keptOutcome(call, key, { payload: kept.payload }),
    parts.run,
  );
  parts.failpoint("after_settle");
  if (!kept.isOwn)
    await parts.cache.note(cacheKey, call.principal.account.id, now, kept.ttlS).catch(parts.onUnkept);
  const usage = await usageOf(parts, question, quoted, balance);
  parts.failpoint("before_response");
  if (!kept.isOwn) return replyOf(kept.payload, question, usage, "MISS");
  const ageS = Math.max(0, Math.floor((now.getTime() - kept.madeAt.getTime()) / 1000));
  return { ...replyOf(kept.payload, question, usage, "HIT"), ageS };
}

async function runAndSettle(
  parts: PipelineParts,
  question: Question,
  quoted: Charge,
  cacheKey: CacheKey | undefined,
  key: string | undefined,
): Promise<Reply> {
  const { call, request } = question;
  const accountId = call.principal.account.id;
  parts.failpoint("before_hold");
  await hold(parts.database, holdOf(parts, question, quoted), parts.run);
  parts.failpoint("after_hold");
  const { payload, due, ttlS, version } = await runHeld(parts, question, quoted, key);
  const settledAt = parts.clock();
  parts.failpoint("before_settle");
  const isKept = cacheKey !== undefined && due.tokens > 0 && ttlS > 0;
  // Runs while the ledger is written. Free answers are not cached, because a repeat would cost half of the first
  // price.
  const packing = isKept ? packed(payload) : undefined;
  packing?.catch(() => {});
  const balance = await settle(
    parts.database,
    call.requestId,
    due.tokens > 0
      ? { kind: "capture", tokens: due.tokens, note: "answered", now: settledAt, accountId }
      : { kind: "void", tokens: 0, note: due.reason ?? "free", now: settledAt, accountId },
    keptOutcome(call, key, { payload }),
    parts.run,
  );
  parts.failpoint("after_settle");
  if (!balance) {
    // The hold was voided meanwhile, or the key belongs to another call: the call cannot be charged, so it fails.
    const late = new Failure("unavailable", { retry_after: 1 });
    await giveBack(parts, call, late, undefined);
    throw late;
  }
  await packing
    ?.then((bytes) =>
      parts.cache.keep(cacheKey!.at(version).bytes, bytes, accountId, { madeAt: settledAt, ttlS }),
    )
    .catch(parts.onUnkept);
  parts.failpoint("before_response");
  const usage = await usageOf(parts, question, due, balance);
  return replyOf(payload, question, usage, request.cache === "bypass" ? "BYPASS" : "MISS");
}

/** The answer of the source and its price. On any error the hold is voided. */
async function runHeld(
  parts: PipelineParts,
  question: Question,
  quoted: Charge,
  key: string | undefined,
): Promise<PricedAnswer> {
  const { call } = question;
  try {
    return await priceAnswer(parts, question, quoted, key);
  } catch (error) {
    await giveBack(parts, call, error, isFinal(error) ? keptFailure(call, key, error) : undefined);
    throw error;
  }
}

function holdOf(parts: PipelineParts, { call, request, price }: Question, quoted: Charge): HoldRequest {
  return holdRequest(parts, call, {
    operation: request.operation.name,
    tokens: quoted.tokens,
    priceVersion: price.version,
    cached: quoted.reason === "cache_hit",
  });
}
