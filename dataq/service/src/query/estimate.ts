import { Failure, invalid, type SpecialReason, specialReasons } from "@dataq/contract";
import type { Estimate } from "@dataq/contract/wire";
import type { Principal } from "../accounts/principal.ts";
import type { Call } from "./call.ts";
import type { PipelineParts } from "./parts.ts";
import { look, type Question, readQuestion } from "./question.ts";
import { type Reply, readBalance } from "./reply.ts";

const MAX_QUESTIONS = 100;

/**
 * The current price of a query, or of several: `{queries: […]}`, or one query with `pages` instead of a list of its
 * pages. The same query twice counts twice, each at the current price.
 */
export async function estimate(parts: PipelineParts, principal: Principal, body: unknown): Promise<Estimate> {
  const questions = questionsOf(body);
  // Free calls that the queries before would use.
  const promised = new Map<string, number>();
  const estimateOne = async (one: unknown) => {
    const signal = new AbortController().signal;
    const call: Call = { requestId: "", principal, body: one, language: "en", lenient: false, signal };
    const question = await readQuestion(parts, call);
    const { name } = question.request.operation;
    const taken = promised.get(name) ?? 0;
    const cost = await costOf(parts, question, taken);
    if (cost.reason === "free_tier") promised.set(name, taken + 1);
    return cost;
  };
  if (questions === undefined) {
    const cost = await estimateOne(body);
    const { balance } = await readBalance(parts, principal.account.id, parts.clock());
    return { ...cost, balance_after: balance - cost.tokens };
  }
  const data: Awaited<ReturnType<typeof costOf>>[] = [];
  for (const { path, question } of questions) {
    const cost = await estimateOne(question).catch((error) => {
      throw placed(error, path);
    });
    data.push(cost);
  }
  const { balance } = await readBalance(parts, principal.account.id, parts.clock());
  const tokens = data.reduce((sum, one) => sum + one.tokens, 0);
  return { tokens, cached: data.every(({ cached }) => cached), balance_after: balance - tokens, data };
}

/** The estimate, as the answer to a call with `dry_run`. */
export async function dryRun(parts: PipelineParts, question: Question): Promise<Reply> {
  const { call, request } = question;
  const cost = await costOf(parts, question);
  const { balance } = await readBalance(parts, call.principal.account.id, question.now);
  const body = {
    ...cost,
    balance_after: balance - cost.tokens,
    dry_run: true,
    operation: request.operation.name,
    request_id: call.requestId,
  };
  return { json: Buffer.from(JSON.stringify(body)), tokens: 0, balance, cache: "MISS" };
}

/** Computes the price with the code that charges for the call. */
async function costOf(parts: PipelineParts, question: Question, promised = 0) {
  const { quoted } = await look(parts, question, promised);
  const { reason } = quoted;
  return {
    tokens: quoted.tokens,
    cached: reason === "cache_hit",
    ...(reason === "sample" && { sample: true as const }),
    ...((reason === "free_tier" || isSpecial(reason)) && { reason }),
  };
}

function isSpecial(reason: string | null): reason is SpecialReason {
  return specialReasons.some((one) => one === reason);
}

/** How many queries a body contains, without checking them. */
export function countQuestions(body: unknown): number {
  const { queries, pages } = (body ?? {}) as Record<string, unknown>;
  if (Array.isArray(queries)) return Math.min(queries.length, MAX_QUESTIONS);
  if (Array.isArray(pages)) return Math.min(pages.length, MAX_QUESTIONS);
  return typeof pages === "number" ? Math.max(1, Math.min(pages, MAX_QUESTIONS)) : 1;
}

/** The queries in a body; undefined if the body is a single query. */
function questionsOf(body: unknown): { readonly path: string; readonly question: unknown }[] | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
  const { queries, pages, ...question } = body as Record<string, unknown>;
  if (queries !== undefined) {
    const rest = Object.keys(body).find((name) => name !== "queries");
    if (rest !== undefined)
      throw invalid(
        rest,
        "range",
        `${rest} must not be sent together with queries`,
        "put it into each query",
        "请放入各个查询中",
      );
    if (!Array.isArray(queries) || queries.length === 0 || queries.length > MAX_QUESTIONS)
      throw invalid(
        "queries",
        "range",
        `queries must be a list of 1 to ${MAX_QUESTIONS} queries`,
        `send 1 to ${MAX_QUESTIONS} queries`,
        `请发送 1 到 ${MAX_QUESTIONS} 个查询`,
      );
    return queries.map((each, index) => ({ path: `queries.${index}`, question: each }));
  }
  if (pages === undefined) return undefined;
  if (!Number.isSafeInteger(pages) || Number(pages) < 1 || Number(pages) > MAX_QUESTIONS)
    throw invalid(
      "pages",
      "range",
      `pages must be between 1 and ${MAX_QUESTIONS}`,
      `send 1 to ${MAX_QUESTIONS}`,
      `请发送 1 到 ${MAX_QUESTIONS}`,
    );
  const first = question["page"] === undefined ? 1 : Number(question["page"]);
  return Array.from({ length: Number(pages) }, (_, index) => ({
    path: "",
    question: index === 0 ? question : { ...question, page: first + index },
  }));
}

/** Adds the position in the list to the error of a query. */
function placed(error: unknown, path: string): unknown {
  if (!(error instanceof Failure) || path === "") return error;
  const { param, details } = error.details as Failure["details"] & { readonly param?: unknown };
  return new Failure(
    error.code,
    {
      ...error.details,
      param: typeof param === "string" ? `${path}.${param}` : path,
      ...(details && { details: details.map((one) => ({ ...one, param: `${path}.${one.param}` })) }),
    },
    error,
  );
}
