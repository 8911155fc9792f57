import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { errors, Failure, type Usage } from "@dataq/contract";
import type { Principal } from "../accounts/key.ts";
import type { Database } from "../database/database.ts";
import type { RunStatement } from "../ledger/gather.ts";
import { type Balance, charge, type HoldRequest, hold, type KeptOutcome, settle } from "../ledger/hold.ts";
import { claimKey, freeKey } from "../ledger/idempotency.ts";
import type { Instance } from "../ledger/instance.ts";
import type { PriceList, PriceVersion } from "../ledger/price.ts";
import { readWallet } from "../ledger/wallet.ts";
import { chinaDate } from "../sources/china-time.ts";
import type { Answer, Source, Sources } from "../sources/source.ts";
import { type AnswerCache, cacheKeyOf, fingerprintOf, type Kept, packed } from "./answer-cache.ts";
import { completeEnvelope, writePayload } from "./envelope.ts";
import type { Failpoint } from "./failpoint.ts";
import type { Flights } from "./flights.ts";
import { type KeptReply, readKept, writeKept } from "./kept-reply.ts";
import type { Payload } from "./payload.ts";
import { type QueryRequest, readRequest } from "./request.ts";
import { type Directive, failureOf, takeDirective } from "./sandbox.ts";
import { type Charge, chargeFor, isCacheable, quote } from "./tariff.ts";

/** One paid call as HTTP received it. */
export interface Call {
  readonly requestId: string;
  readonly principal: Principal;
  readonly body: unknown;
  /** Where the list begins, for a profile that does not count in pages. */
  readonly offset?: number;
  readonly idempotencyKey?: string | undefined;
  /** `Prefer: handling=lenient`. */
  readonly lenient: boolean;
  /** Of the Cache-Control header; a `cache` in the body counts before it. */
  readonly cacheControl?: "bypass" | "only" | undefined;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Told as soon as it is known, for logs: also of calls that then fail. */
  readonly onOperation?: (operation: string) => void;
}

/** The answer to a call, with what the headers say of it. */
export interface Reply {
  /** UTF-8. */
  readonly json: Buffer;
  readonly tokens: number;
  readonly balance: number;
  readonly cache: "HIT" | "MISS" | "BYPASS";
  /** Of an answer from the cache. */
  readonly ageS?: number;
  readonly replayed?: true;
}

export interface PipelineParts {
  readonly database: Database;
  readonly sources: Sources;
  readonly prices: PriceList;
  readonly cache: AnswerCache;
  readonly flights: Flights;
  readonly instance: Instance;
  /** Sends the ledger's statements, together where several wait. */
  readonly run: RunStatement;
  /** DATAQ_CHARGE_EMPTY */
  readonly chargeEmpty: boolean;
  /** A source gets this long. */
  readonly sourceLimitMs: number;
  readonly clock: () => Date;
  /** Tests stop the process here; see config.ts. */
  readonly failpoint: (name: Failpoint) => void;
}

/** A hold outlives the longest call by far; the sweeper takes what is older. */
const HOLD_LIMIT_MS = 120_000;
/** How long a second call under the same Idempotency-Key waits for the first. */
const TWIN_LIMIT_MS = 30_000;

/** Everything after authentication and limits: validate → price → idempotency → cache → hold → run → settle. */
export async function answerCall(parts: PipelineParts, call: Call): Promise<Reply> {
  const now = parts.clock();
  const isSandbox = call.principal.key.mode === "test";
  const { body, directive } = isSandbox ? takeDirective(call.body) : { body: call.body };
  const read = readRequest(body, { today: chinaDate(now), lenient: call.lenient });
  const request = withCacheControl(
    call.offset === undefined ? read : { ...read, offset: call.offset },
    call.cacheControl,
  );
  call.onOperation?.(request.operation.name);
  const source = parts.sources.find(request.operation.name);
  if (!source) throw new Failure("not_configured", { operation: request.operation.name });
  await source.check?.(request.params, isSandbox);
  const price = await parts.prices.find(request.operation.name, now);
  const question: Question = { request, source, price, call, now };
  if (request.dryRun) return dryRun(parts, question);
  if (isSandbox) return answerInSandbox(parts, question, directive);
  return call.idempotencyKey === undefined
    ? answerOnce(parts, question)
    : answerUnderKey(parts, question, digestOf(call.idempotencyKey));
}

/** What a call would cost now, from the code that charges it. */
export async function estimateCall(
  parts: PipelineParts,
  principal: Principal,
  body: unknown,
): Promise<{ tokens: number; cached: boolean; balance_after: number }> {
  const now = parts.clock();
  const request = readRequest(body, { today: chinaDate(now) });
  const source = parts.sources.find(request.operation.name);
  if (!source) throw new Failure("not_configured", { operation: request.operation.name });
  await source.check?.(request.params, principal.key.mode === "test");
  const price = await parts.prices.find(request.operation.name, now);
  const signal = new AbortController().signal;
  const call: Call = { requestId: "", principal, body, lenient: false, signal };
  const question = { request, source, price, call, now };
  const { quoted } = await look(parts, question);
  const balance = await readBalance(parts, principal.account.id, now);
  return {
    tokens: quoted.tokens,
    cached: quoted.reason === "cache_hit",
    balance_after: balance.balance - quoted.tokens,
  };
}

/** Callers put anything into their keys; nothing of it needs to be kept in clear. */
function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}

interface Question {
  readonly request: QueryRequest;
  readonly source: Source;
  readonly price: PriceVersion;
  readonly call: Call;
  readonly now: Date;
}

async function dryRun(parts: PipelineParts, question: Question): Promise<Reply> {
  const { call, request, now } = question;
  const { quoted } = await look(parts, question);
  const balance = await readBalance(parts, call.principal.account.id, now);
  const cached = quoted.reason === "cache_hit";
  const estimate = {
    tokens: quoted.tokens,
    cached,
    balance_after: balance.balance - quoted.tokens,
    dry_run: true,
    operation: request.operation.name,
    request_id: call.requestId,
  };
  return { json: Buffer.from(JSON.stringify(estimate)), tokens: 0, balance: balance.balance, cache: "MISS" };
}

/**
 * A retry with the same key gets the same answer and is not charged. What is kept is a final outcome: an answer,
 * or a 4xx that came after the hold. After 402, 429 and 5xx the key is free again.
 */
async function answerUnderKey(parts: PipelineParts, question: Question, key: string): Promise<Reply> {
  const { call, request, now } = question;
  const accountId = call.principal.account.id;
  const claim = {
    accountId,
    key,
    bodySha256: fingerprintOf(request),
    requestId: call.requestId,
    instanceId: parts.instance.id,
    now,
  };
  const end = performance.now() + TWIN_LIMIT_MS;
  parts.failpoint("before_claim");
  let found = await claimKey(parts.database, claim);
  while (found.state === "running" && performance.now() < end && !call.signal.aborted) {
    await sleep(25);
    found = await claimKey(parts.database, claim);
  }
  if (found.state === "running") throw new Failure("idempotency_conflict");
  if (found.state === "mismatch") throw new Failure("idempotency_mismatch");
  if (found.state === "finished") return replay(parts, question, readKept(found.outcome));
  parts.failpoint("after_claim");
  try {
    return await answerOnce(parts, question, key);
  } catch (error) {
    await freeKey(parts.database, accountId, key, call.requestId);
    throw error;
  }
}

async function replay(parts: PipelineParts, question: Question, kept: KeptReply): Promise<Reply> {
  const { call, price, now } = question;
  if ("code" in kept) throw new Failure(kept.code, { ...kept.details, replayed: true });
  const balance = await readBalance(parts, call.principal.account.id, now);
  const usage = usageOf(price, { tokens: 0, reason: "replayed" }, balance);
  return { ...reply(kept.payload, question, usage, "MISS"), replayed: true };
}

async function answerOnce(parts: PipelineParts, question: Question, key?: string): Promise<Reply> {
  const { request, call } = question;
  for (;;) {
    const { cacheKey, kept, quoted } = await look(parts, question);
    if (request.maxTokens !== undefined && quoted.tokens > request.maxTokens)
      throw new Failure("price_above_max", { required: quoted.tokens, max_tokens: request.maxTokens });
    if (kept) return answerFromCache(parts, question, kept, quoted, cacheKey!, key);
    if (request.cache === "only") throw new Failure("not_cached");
    if (!cacheKey || request.cache === "bypass") return runAndSettle(parts, question, quoted, cacheKey, key);
    // Of several who ask the same at once one asks the source; the others find its answer in the cache.
    const flight = parts.flights.join(cacheKey.toString("base64"));
    if (!flight.isLeader) {
      await flight.landed(call.signal);
      continue;
    }
    try {
      return await runAndSettle(parts, question, quoted, cacheKey, key);
    } finally {
      flight.land();
    }
  }
}

/** Looks the question up. Without a cache key it is never answered from the cache. */
async function look(
  parts: PipelineParts,
  { request, source, price, call, now }: Question,
): Promise<{ cacheKey?: Buffer; kept?: Kept; quoted: Charge }> {
  if (call.principal.key.mode === "test") return { quoted: { tokens: 0, reason: "sandbox" } };
  if (!isCacheable(request, price)) return { quoted: quote(price, false) };
  const cacheKey = cacheKeyOf(request, await source.version(false));
  if (request.cache === "bypass") return { cacheKey, quoted: quote(price, false) };
  const kept = await parts.cache.find(cacheKey, call.principal.account.id, now);
  return { cacheKey, ...(kept && { kept }), quoted: quote(price, kept?.isOwn ?? false) };
}

/** The answer is in hand, so hold and capture are one step. */
async function answerFromCache(
  parts: PipelineParts,
  question: Question,
  kept: Kept,
  quoted: Charge,
  cacheKey: Buffer,
  key: string | undefined,
): Promise<Reply> {
  const { call, price, now, request } = question;
  parts.failpoint("before_hold");
  const balance = await charge(
    parts.database,
    holdRequest(parts, question, quoted),
    keptOutcome(call, key, { payload: kept.payload }),
    parts.run,
  );
  parts.failpoint("after_settle");
  if (!kept.isOwn) {
    const ttlS = request.operation.cacheS;
    await parts.cache.note(cacheKey, call.principal.account.id, now, ttlS);
  }
  const usage = usageOf(price, quoted, balance);
  parts.failpoint("before_response");
  if (!kept.isOwn) return reply(kept.payload, question, usage, "MISS");
  const ageS = Math.max(0, Math.floor((now.getTime() - kept.madeAt.getTime()) / 1000));
  return { ...reply(kept.payload, question, usage, "HIT"), ageS };
}

async function runAndSettle(
  parts: PipelineParts,
  question: Question,
  quoted: Charge,
  cacheKey: Buffer | undefined,
  key: string | undefined,
): Promise<Reply> {
  const { call, request, price } = question;
  const accountId = call.principal.account.id;
  parts.failpoint("before_hold");
  await hold(parts.database, holdRequest(parts, question, quoted), parts.run);
  parts.failpoint("after_hold");
  let answer: Answer;
  try {
    answer = await runSource(parts, question, false);
    parts.failpoint("after_run");
    if (call.signal.aborted && key === undefined) throw new Failure("client_closed_request");
  } catch (error) {
    await giveBack(parts, call, error, isFinal(error) ? keptFailure(call, key, error) : undefined);
    throw error;
  }
  if (answer.outcome === "not_found") {
    const failure = notFound(request);
    await giveBack(parts, call, failure, keptFailure(call, key, failure));
    throw failure;
  }
  const payload = writePayload(request, answer);
  const due = chargeFor(quoted, answer.outcome, parts.chargeEmpty);
  const ttlS = answer.cacheS ?? request.operation.cacheS;
  const isKept = cacheKey !== undefined && due.tokens > 0 && ttlS > 0;
  const settledAt = parts.clock();
  parts.failpoint("before_settle");
  // While the ledger is written.
  const keeping = isKept
    ? packed(payload).then((bytes) =>
        parts.cache.keep(cacheKey, bytes, accountId, { madeAt: settledAt, ttlS }),
      )
    : undefined;
  keeping?.catch(() => {});
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
  // The hold was given back while we ran: too late to charge, so too late to answer.
  if (!balance) throw new Failure("unavailable", { retry_after: 1 });
  await keeping;
  parts.failpoint("before_response");
  return reply(
    payload,
    question,
    usageOf(price, due, balance),
    request.cache === "bypass" ? "BYPASS" : "MISS",
  );
}

/** Samples, never charged: no hold, no cache, no kept outcome. */
async function answerInSandbox(
  parts: PipelineParts,
  question: Question,
  directive: Directive | undefined,
): Promise<Reply> {
  const { call, request, price, now } = question;
  if (directive?.kind === "error") throw failureOf(directive.code, directive.retryAfterS, request.operation);
  if (directive?.kind === "delay") await sleep(directive.ms, undefined, { signal: call.signal });
  const answer =
    directive?.kind === "empty" && request.operation.kind === "list"
      ? emptyAnswer
      : await runSource(parts, question, true);
  if (answer.outcome === "not_found") throw notFound(request);
  const isHit = directive?.kind === "cache_hit";
  const balance = await readBalance(parts, call.principal.account.id, now);
  const usage = { ...usageOf(price, { tokens: 0, reason: "sandbox" }, balance), cached: isHit };
  const replied = reply(writePayload(request, answer), question, usage, isHit ? "HIT" : "MISS");
  return isHit ? { ...replied, ageS: 1 } : replied;
}

const emptyAnswer: Answer = { outcome: "empty", records: [], total: 0, totalRelation: "eq", warnings: [] };

/** A source that does not heed the signal is left behind; what it finds later is not used. */
async function runSource(
  { sourceLimitMs }: PipelineParts,
  { request, source, call, now }: Question,
  sandbox: boolean,
): Promise<Answer> {
  const limit = AbortSignal.timeout(sourceLimitMs);
  // With a key the answer is kept for the retry, so the client's leaving does not stop the work.
  const signal = call.idempotencyKey === undefined ? AbortSignal.any([call.signal, limit]) : limit;
  const page = {
    page: request.page,
    pageSize: request.pageSize,
    ...(request.offset !== undefined && { offset: request.offset }),
    ...(request.snapshot !== undefined && { snapshot: request.snapshot }),
  };
  let stop: (() => void) | undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () =>
      reject(
        new Failure(limit.aborted ? "upstream_timeout" : "client_closed_request", {
          operation: request.operation.name,
        }),
      );
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
  stopped.catch(() => {});
  try {
    return await Promise.race([source.run(request.params, page, { signal, now, sandbox }), stopped]);
  } finally {
    signal.removeEventListener("abort", stop!);
  }
}

function notFound(request: QueryRequest): Failure {
  return new Failure("not_found", { what: `What ${request.operation.name} was asked for` });
}

/** A failed call costs nothing. Should this fail too, the sweeper gives the hold back by its deadline. */
async function giveBack(
  parts: PipelineParts,
  call: Call,
  reason: unknown,
  kept: KeptOutcome | undefined,
): Promise<void> {
  const note = reason instanceof Failure ? reason.code : "internal_error";
  parts.failpoint("before_settle");
  const accountId = call.principal.account.id;
  const end = { kind: "void", tokens: 0, note, now: parts.clock(), accountId } as const;
  await settle(parts.database, call.requestId, end, kept, parts.run);
  parts.failpoint("after_settle");
}

function holdRequest(parts: PipelineParts, { call, request, price }: Question, quoted: Charge): HoldRequest {
  const now = parts.clock();
  const { key, account } = call.principal;
  return {
    requestId: call.requestId,
    accountId: account.id,
    keyId: key.id,
    operation: request.operation.name,
    tokens: quoted.tokens,
    priceVersion: price.version,
    cached: quoted.reason === "cache_hit",
    instanceId: parts.instance.id,
    now,
    deadline: new Date(now.getTime() + HOLD_LIMIT_MS),
    ...(key.monthlyCap !== null && { cap: { tokens: key.monthlyCap, month: chinaDate(now).slice(0, 7) } }),
  };
}

/** The same question would get the same refusal again: nothing that a retry could better. */
function isFinal(error: unknown): error is Failure {
  if (!(error instanceof Failure)) return false;
  const { status, retryable } = errors[error.code];
  return status < 500 && status !== 402 && !retryable && error.code !== "client_closed_request";
}

function keptFailure(call: Call, key: string | undefined, { code, details }: Failure) {
  return keptOutcome(call, key, { code, details });
}

function keptOutcome(call: Call, key: string | undefined, kept: KeptReply): KeptOutcome | undefined {
  if (key === undefined) return undefined;
  return { accountId: call.principal.account.id, key, outcome: writeKept(kept) };
}

async function readBalance(parts: PipelineParts, accountId: string, now: Date): Promise<Balance> {
  const wallet = await readWallet(parts.database, accountId, now);
  if (!wallet) throw new Error(`The account ${accountId} has no wallet.`);
  return wallet;
}

function usageOf(price: PriceVersion, due: Charge, balance: Balance): Usage {
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

function reply(
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

function withCacheControl(request: QueryRequest, header: Call["cacheControl"]): QueryRequest {
  return header !== undefined && request.cache === "default" ? { ...request, cache: header } : request;
}
