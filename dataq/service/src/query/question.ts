import { chinaDate, Failure } from "@dataq/contract";
import { type FreeDay, freeCallsLeft, returnFreeCall, takeFreeCall } from "../ledger/free-calls.ts";
import type { PriceVersion } from "../ledger/price.ts";
import type { Source } from "../sources/source.ts";
import { CacheKey, type Kept } from "./answer-cache.ts";
import type { Call } from "./call.ts";
import type { PipelineParts } from "./parts.ts";
import { type QueryRequest, readRequest } from "./request/request.ts";
import { type Charge, freeTier, isCacheable, priceOfCall, quote, samplesOnly } from "./tariff.ts";

/** A validated call with its source and its price. */
export interface Question {
  readonly request: QueryRequest;
  readonly source: Source;
  readonly price: PriceVersion;
  readonly call: Call;
  readonly now: Date;
}

/** Throws 400 for an invalid request and 501 where no source can answer. */
export async function readQuestion(parts: PipelineParts, call: Call): Promise<Question> {
  const now = parts.clock();
  const isSandbox = call.principal.mode === "test";
  const read = readRequest(call.body, { today: chinaDate(now), lenient: call.lenient });
  const request = withCacheControl(
    call.offset === undefined ? read : { ...read, offset: call.offset },
    call.cacheControl,
  );
  call.onOperation?.(request.operation.name);
  const source = parts.sources.find(request.operation.name);
  if (!source) throw new Failure("not_configured", { operation: request.operation.name });
  await source.check?.(request.params, isSandbox);
  const listed = await parts.terms.priceOf(call.principal.account.id, request.operation.name, now);
  const count = (await source.count?.(request.params, isSandbox)) ?? 1;
  const price = priceOfCall(listed, request.operation, count);
  return { request, source, price, call, now };
}

export interface Looked {
  readonly cacheKey?: CacheKey;
  readonly kept?: Kept;
  readonly quoted: Charge;
}

/**
 * Looks the question up in the cache, and in the free calls of the day, of which `taken` are promised to others. Without
 * a cache key it is never answered from the cache.
 */
export async function look(parts: PipelineParts, question: Question, taken = 0): Promise<Looked> {
  const found = await lookInCache(parts, question);
  if (found.quoted.tokens === 0 || taken === Number.POSITIVE_INFINITY) return found;
  const limit = await parts.terms.freeCallsOf(question.request.operation.name, question.now);
  if (limit === 0) return found;
  const left = await freeCallsLeft(parts.database, freeDayOf(question), limit);
  return left > taken ? { ...found, quoted: freeTier } : found;
}

/** Like `look`, and takes the free call that it quotes; `returnFree` gives it back. */
export async function lookAndTake(parts: PipelineParts, question: Question): Promise<Looked> {
  const found = await look(parts, question);
  if (found.quoted !== freeTier) return found;
  const limit = await parts.terms.freeCallsOf(question.request.operation.name, question.now);
  if (await takeFreeCall(parts.database, freeDayOf(question), limit)) return found;
  return look(parts, question, Number.POSITIVE_INFINITY);
}

/** Gives a free call back that was not answered, or would have cost nothing. */
export async function returnFree(parts: PipelineParts, question: Question): Promise<void> {
  // If this fails, the account has one free call less today.
  await returnFreeCall(parts.database, freeDayOf(question)).catch(parts.onUnkept);
}

function freeDayOf({ call, request, now }: Question): FreeDay {
  return { accountId: call.principal.account.id, operation: request.operation.name, day: chinaDate(now) };
}

async function lookInCache(
  parts: PipelineParts,
  { request, source, price, call, now }: Question,
): Promise<Looked> {
  if (call.principal.mode === "test") return { quoted: { tokens: 0, reason: "sandbox" } };
  if ((await source.answeredBy?.("call")) === "sample") return { quoted: samplesOnly };
  if (request.cache === "none" || !isCacheable(request, price)) return { quoted: quote(price, false) };
  const params = (await source.normalised?.(request.params, false, now)) ?? request.params;
  const cacheKey = new CacheKey({ ...request, params }, await source.version(false));
  if (request.cache === "bypass") return { cacheKey, quoted: quote(price, false) };
  const kept = await parts.cache.find(cacheKey.bytes, call.principal.account.id, now);
  return { cacheKey, ...(kept && { kept }), quoted: quote(price, kept?.isOwn ?? false) };
}

function withCacheControl(request: QueryRequest, header: Call["cacheControl"]): QueryRequest {
  return header !== undefined && request.cache === "default" ? { ...request, cache: header } : request;
}
