import { Failure, invalid, type Usage, type Warning } from "@dataq/contract";
import { mostQueries } from "@dataq/contract/wire";
import { isAway } from "../database/connection-loss.ts";
import type { Balance } from "../ledger/balance.ts";
import { hold } from "../ledger/hold.ts";
import { freeKey } from "../ledger/idempotency.ts";
import { settle } from "../ledger/settlement.ts";
import { severalOperation } from "../ledger/several.ts";
import { type CacheKey, type Kept, packed } from "./answer-cache.ts";
import type { Call } from "./call.ts";
import { completeEnvelope } from "./envelope.ts";
import { giveBack, hasLeft, holdRequest } from "./held.ts";
import { isFinal, keptOutcome } from "./kept-reply.ts";
import type { PipelineParts } from "./parts.ts";
import { Payload } from "./payload.ts";
import { answerCall } from "./pipeline.ts";
import { type PricedAnswer, priceAnswer } from "./priced-answer.ts";
import { lookAndTake, type Question, readQuestion, returnFree } from "./question.ts";
import { budgetLeftOf, readBalance, usageWith } from "./reply.ts";
import { readInteger } from "./request/controls.ts";
import { isObject } from "./request/json-object.ts";
import { shorten } from "./request/shorten.ts";
import { type Charge, freeTier, listTokensOf } from "./tariff.ts";
import { underKey } from "./under-key.ts";

/** All records of an answer are in memory at once. */
const MOST_RECORDS = 400;
/** So that 20 slow sources end long before the hold does. */
const MOST_AT_ONCE = 5;

/** The answer to several queries: for each the body that it would get alone, or its failure. */
export interface SeveralReply {
  readonly items: readonly ({ readonly json: Buffer } | { readonly failure: Failure })[];
  readonly usage: Usage;
  readonly replayed?: true;
}

/** The queries of a body; undefined for a body with a single query. */
export function queriesOf(body: unknown): readonly unknown[] | undefined {
  if (!isObject(body) || body["queries"] === undefined) return undefined;
  const { queries, max_tokens: _limit, ...others } = body;
  const [rest] = Object.keys(others);
  if (rest !== undefined)
    throw invalid(
      shorten(rest),
      "range",
      `${shorten(rest)} must be inside each query, not beside queries`,
      "move it into each query",
      "请放入各个查询中",
    );
  if (Array.isArray(queries) && queries.length >= 1 && queries.length <= mostQueries) return queries;
  throw invalid(
    "queries",
    "range",
    `queries must be a list of 1 to ${mostQueries} queries`,
    `send 1 to ${mostQueries} queries`,
    `请发送 1 到 ${mostQueries} 个查询`,
  );
}

/**
 * Answers several queries in one call: one hold for all, captured by what was answered. A query that fails costs
 * nothing and does not affect the others.
 */
export async function answerSeveral(
  parts: PipelineParts,
  call: Call,
  queries: readonly unknown[],
): Promise<SeveralReply> {
  const maxTokens = readInteger(call.body as Record<string, unknown>, "max_tokens", 0);
  if (call.principal.mode === "test") return answerAllInSandbox(parts, call, queries);
  return underKey(parts, call, parts.clock(), {
    run: (key) => answerAll(parts, call, queries, maxTokens, key),
    replay: (payload) => replay(parts, call, payload),
  });
}

/** A validated query with its quote. */
interface Planned {
  readonly question: Question;
  readonly quoted: Charge;
  readonly cacheKey?: CacheKey;
  readonly kept?: Kept;
}

type Answered = Planned & PricedAnswer;
type Failed = { readonly failure: Failure };

async function answerAll(
  parts: PipelineParts,
  call: Call,
  queries: readonly unknown[],
  maxTokens: number | undefined,
  key: string | undefined,
): Promise<SeveralReply> {
  const planned = await plan(parts, call, queries);
  const used = new Set<Question>();
  try {
    return await answerPlanned(parts, call, planned, maxTokens, key, used);
  } finally {
    for (const one of planned)
      if (!("failure" in one) && one.quoted === freeTier && !used.has(one.question))
        await returnFree(parts, one.question);
  }
}

/** Puts the questions into `used` whose free calls were answered. */
async function answerPlanned(
  parts: PipelineParts,
  call: Call,
  planned: readonly (Planned | Failed)[],
  maxTokens: number | undefined,
  key: string | undefined,
  used: Set<Question>,
): Promise<SeveralReply> {
  const accountId = call.principal.account.id;
  const required = planned.reduce((sum, one) => sum + ("failure" in one ? 0 : one.quoted.tokens), 0);
  if (maxTokens !== undefined && required > maxTokens)
    throw new Failure("price_above_max", { required, max_tokens: maxTokens });
  if (required > 0) {
    const isCached = planned.every((one) => "failure" in one || one.quoted.reason === "cache_hit");
    const what = { operation: severalOperation, tokens: required, priceVersion: 0, cached: isCached };
    parts.failpoint("before_hold");
    await hold(parts.database, holdRequest(parts, call, what), parts.run);
    parts.failpoint("after_hold");
  }
  const answers = await atOnce(planned, async (one) => ("failure" in one ? one : answerOne(parts, one, key)));
  if (hasLeft(call, key)) {
    const left = new Failure("client_closed_request");
    if (required > 0) await giveBack(parts, call, left, undefined);
    throw left;
  }
  const now = parts.clock();
  const answered = answers.flatMap((one) => ("failure" in one ? [] : [one]));
  const due = answered.reduce((sum, one) => sum + one.due.tokens, 0);
  // An answer that a retry would not change is stored. Otherwise the retry asks again, and nothing was charged.
  const isKept = due > 0 || answers.every((one) => !("failure" in one) || isFinal(one.failure));
  let balance: Balance | undefined;
  if (required > 0) {
    parts.failpoint("before_settle");
    balance = await settle(
      parts.database,
      call.requestId,
      due > 0
        ? { kind: "capture", tokens: due, note: noteOf(answered), now, accountId }
        : { kind: "void", tokens: 0, note: "no query was charged", now, accountId },
      isKept ? keptOutcome(call, key, { payload: writeItems(answers) }) : undefined,
      parts.run,
    );
    parts.failpoint("after_settle");
    if (!balance) {
      // The hold was voided meanwhile, or the key belongs to another call, so nothing can be charged.
      const late = new Failure("unavailable", { retry_after: 1 });
      await giveBack(parts, call, late, undefined);
      throw late;
    }
    await Promise.all(answered.map((one) => keepAnswer(parts, one, accountId, now)));
  }
  if (key !== undefined && (required === 0 || !isKept))
    await freeKey(parts.database, accountId, key, call.requestId);
  balance ??= await readBalance(parts, accountId, now);
  for (const { question, due: charged } of answered) if (charged === freeTier) used.add(question);
  parts.failpoint("before_response");
  return complete(answers, call, balance, await budgetLeftOf(parts, call));
}

/** Reads and prices every query. A query that cannot be answered becomes its failure. */
async function plan(
  parts: PipelineParts,
  call: Call,
  queries: readonly unknown[],
): Promise<(Planned | Failed)[]> {
  let records = 0;
  return atOnce(queries, async (body): Promise<Planned | Failed> => {
    try {
      const { onOperation: _alone, ...rest } = call;
      const question = await readQuestion(parts, { ...rest, body });
      const { operation, pageSize, maxTokens, cache, dryRun } = question.request;
      if (dryRun) throw estimatesOnly();
      if (operation.paged) records += pageSize;
      if (operation.paged && records > MOST_RECORDS) throw tooManyRecords();
      const found = await lookAndTake(parts, question);
      if (maxTokens !== undefined && found.quoted.tokens > maxTokens)
        throw new Failure("price_above_max", { required: found.quoted.tokens, max_tokens: maxTokens });
      if (found.kept === undefined && cache === "only") {
        if (found.quoted === freeTier) await returnFree(parts, question);
        throw new Failure("not_cached");
      }
      return { question, ...found };
    } catch (error) {
      return { failure: failureOf(error) };
    }
  });
}

async function answerOne(
  parts: PipelineParts,
  planned: Planned,
  key: string | undefined,
): Promise<Answered | Failed> {
  const { question, quoted, kept } = planned;
  if (kept) return { ...planned, payload: kept.payload, due: quoted, ttlS: kept.ttlS };
  try {
    return { ...planned, ...(await priceAnswer(parts, question, quoted, key)) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

async function keepAnswer(
  { cache, onUnkept }: PipelineParts,
  { cacheKey, kept, payload, due, ttlS, version }: Answered,
  accountId: string,
  madeAt: Date,
): Promise<void> {
  if (cacheKey === undefined || due.tokens === 0 || ttlS <= 0 || kept?.isOwn) return;
  const keep = async () =>
    kept
      ? cache.note(cacheKey.bytes, accountId, madeAt, ttlS)
      : cache.keep(cacheKey.at(version).bytes, await packed(payload), accountId, { madeAt, ttlS });
  await keep().catch(onUnkept);
}

/** What the capture consists of. `ledger verify` checks it against the prices. */
function noteOf(answered: readonly Answered[]): string {
  const charged = answered.filter(({ due }) => due.tokens > 0);
  const groups = Map.groupBy(charged, ({ question: { request, price }, due }) => {
    const cached = due.reason === "cache_hit" ? " cached" : "";
    return `${request.operation.name} v${price.version}${cached}`;
  });
  const sum = (list: readonly Answered[]) => list.reduce((tokens, { due }) => tokens + due.tokens, 0);
  return [...groups].map(([what, list]) => `${what} × ${list.length}: ${sum(list)}`).join(", ");
}

function complete(
  answers: readonly (Answered | Failed)[],
  call: Call,
  balance: Balance,
  left: number | undefined,
): SeveralReply {
  const usages = answers.map((one) =>
    "failure" in one ? undefined : usageWith(listTokensOf(one.question.price), one.due, balance, left),
  );
  const items = answers.map((one, place) =>
    "failure" in one
      ? one
      : {
          json: completeEnvelope(one.payload, one.question.request, call, usages[place]!),
        },
  );
  return {
    items,
    usage: sumOf(
      usages.filter((usage) => usage !== undefined),
      balance,
      left,
    ),
  };
}

function sumOf(
  usages: readonly Usage[],
  { balance, trialBalance }: Balance,
  left: number | undefined,
): Usage {
  const reasons = new Set(usages.map(({ reason }) => reason));
  const [reason = null] = reasons;
  return {
    tokens: usages.reduce((sum, { tokens }) => sum + tokens, 0),
    list_tokens: usages.reduce((sum, { list_tokens }) => sum + list_tokens, 0),
    cached: usages.length > 0 && usages.every(({ cached }) => cached),
    billed: usages.some(({ billed }) => billed),
    reason: reasons.size === 1 ? reason : null,
    balance,
    trial_balance: trialBalance,
    ...(left !== undefined && { budget_left: left }),
  };
}

/** The items as stored for a retry: without what differs from reply to reply. */
function writeItems(answers: readonly (Answered | Failed)[]): Payload {
  const items = answers.map((one): StoredItem => {
    if ("failure" in one) return { code: one.failure.code, details: one.failure.details };
    const { request, price } = one.question;
    const payload = one.payload.bytes().toString();
    const { warnings, fields } = request;
    return { payload, warnings, ...(fields && { fields }), list_tokens: listTokensOf(price) };
  });
  return new Payload([Buffer.from(JSON.stringify(items))]);
}

type StoredItem =
  | {
      readonly payload: string;
      readonly warnings: readonly Warning[];
      readonly fields?: readonly string[];
      readonly list_tokens: number;
    }
  | Pick<Failure, "code" | "details">;

async function replay(parts: PipelineParts, call: Call, payload: Payload): Promise<SeveralReply> {
  const balance = await readBalance(parts, call.principal.account.id, parts.clock());
  const left = await budgetLeftOf(parts, call);
  const stored = JSON.parse(payload.bytes().toString()) as readonly StoredItem[];
  const usages: Usage[] = [];
  const items = stored.map((one) => {
    if ("code" in one) return { failure: new Failure(one.code, one.details) };
    const usage = usageWith(one.list_tokens, { tokens: 0, reason: "replayed" }, balance, left);
    usages.push(usage);
    const whole = new Payload([Buffer.from(one.payload)]);
    return { json: completeEnvelope(whole, one, call, usage) };
  });
  return { items, usage: { ...sumOf(usages, balance, left), reason: "replayed" }, replayed: true };
}

async function answerAllInSandbox(
  parts: PipelineParts,
  call: Call,
  queries: readonly unknown[],
): Promise<SeveralReply> {
  const { onOperation: _alone, idempotencyKey: _key, ...rest } = call;
  const usages: Usage[] = [];
  const items = await atOnce(queries, async (body) => {
    try {
      if (isObject(body) && body["dry_run"] === true) throw estimatesOnly();
      const { json } = await answerCall(parts, { ...rest, body });
      usages.push((JSON.parse(json.toString()) as { usage: Usage }).usage);
      return { json };
    } catch (error) {
      return { failure: failureOf(error) };
    }
  });
  const balance = await readBalance(parts, call.principal.account.id, parts.clock());
  return { items, usage: sumOf(usages, balance, await budgetLeftOf(parts, call)) };
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return isAway(error)
    ? new Failure("unavailable", { retry_after: 1 }, error)
    : new Failure("internal_error", {}, error);
}

function estimatesOnly(): Failure {
  return invalid(
    "dry_run",
    "conflict",
    "dry_run cannot be used inside queries",
    "send the queries to /v1/data/estimate",
    "请把 queries 发送到 /v1/data/estimate",
  );
}

function tooManyRecords(): Failure {
  return invalid(
    "page_size",
    "range",
    `the page sizes of all queries together must not exceed ${MOST_RECORDS}`,
    "send smaller pages, or this query in another call",
    "请减小 page_size，或将此查询放到另一次调用中",
  );
}

/** Runs a few at a time and keeps the order. */
async function atOnce<Item, Result>(
  list: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < list.length; at = next++) results[at] = await run(list[at] as Item);
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, list.length) }, work));
  return results;
}
