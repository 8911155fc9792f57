import { chinaDate, Failure } from "@dataq/contract";
import type { PriceVersion } from "../ledger/price.ts";
import type { Source } from "../sources/source.ts";
import { CacheKey, type Kept } from "./answer-cache.ts";
import type { Call } from "./call.ts";
import type { PipelineParts } from "./parts.ts";
import { type QueryRequest, readRequest } from "./request/request.ts";
import { type Charge, isCacheable, priceOfCall, quote, samplesOnly } from "./tariff.ts";

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
  const listed = await parts.prices.find(request.operation.name, now);
  const count = (await source.count?.(request.params, isSandbox)) ?? 1;
  const price = priceOfCall(listed, request.operation, count);
  return { request, source, price, call, now };
}

/** Looks the question up in the cache. Without a cache key it is never answered from the cache. */
export async function look(
  parts: PipelineParts,
  { request, source, price, call, now }: Question,
): Promise<{ cacheKey?: CacheKey; kept?: Kept; quoted: Charge }> {
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
