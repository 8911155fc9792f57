import { Failure, invalid } from "@dataq/contract";
import { mostQueries } from "@dataq/contract/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { severalOperation } from "../../ledger/several.ts";
import type { Call } from "../../query/call.ts";
import { countQuestions, estimate } from "../../query/estimate.ts";
import { readOlderRequest } from "../../query/older-profile.ts";
import { answerCall } from "../../query/pipeline.ts";
import { answerSeveral, queriesOf, type SeveralReply } from "../../query/several.ts";
import { acceptedType } from "../accept.ts";
import { BODY_LIMIT_BYTES, leaveSignal } from "../app.ts";
import { readJson } from "../body.ts";
import { bodyLimitOf, mostBodyBytes } from "../body-limit.ts";
import { readBudget } from "../budget.ts";
import { admitCall, takeAllowance } from "../call-limits.ts";
import { errorBodyOf } from "../error-reply.ts";
import { languageOf } from "../language.ts";
import { listAnswer } from "../list-answer.ts";
import type { HttpParts } from "../parts.ts";
import { scrub } from "../scrub.ts";

/** Calls an operation, and estimates what a call would cost. */
export function addQueryRoutes(app: FastifyInstance, parts: HttpParts): void {
  app.post("/v1/data/query", { bodyLimit: mostBodyBytes }, async (request, reply) => {
    const principal = await admitCall(parts, request, reply, costOf(request));
    const idempotencyKey = readIdempotencyKey(request);
    const budget = readBudget(request, principal);
    const body = readQueryBody(request);
    const noted = <Answer>(answer: Promise<Answer>) =>
      answer.catch((error: unknown) => {
        if (principal.key && error instanceof Failure && error.code === "spend_limit_reached")
          parts.keys.noteRefusal(principal.key, error.code, request.ip, parts.clock());
        throw error;
      });
    const call: Call = {
      requestId: request.id,
      principal,
      body,
      idempotencyKey,
      budget,
      language: languageOf(request.headers["accept-language"]),
      lenient: /\bhandling=lenient\b/.test(String(request.headers["prefer"] ?? "")),
      cacheControl: readCacheControl(request),
      signal: leaveSignal(reply),
      onOperation: (operation) => {
        request.notes.operation = operation;
      },
    };
    const queries = queriesOf(body);
    const older = queries ? undefined : readOlderRequest(body);
    // Decided before anything is charged.
    const isJsonOnly = queries !== undefined || older !== undefined || isDryRun(body);
    const accepted = acceptedType(request.headers.accept, isJsonOnly ? ["json"] : ["json", "csv", "ndjson"]);
    reply.header("vary", "Accept, Accept-Language");
    if (queries) {
      request.notes.operation = severalOperation;
      const several = await noted(answerSeveral(parts.pipeline, call, queries));
      return sendSeveral(parts, request, reply, several);
    }
    const answer = await noted(
      answerCall(
        parts.pipeline,
        older === undefined ? call : { ...call, body: older.body, offset: older.offset },
      ),
    );
    request.notes.tokens = answer.tokens;
    request.notes.cached = answer.cache === "HIT";
    reply.headers({
      "x-tokens-used": answer.tokens,
      "x-tokens-balance": answer.balance,
      ...(answer.budgetLeft !== undefined && { "x-tokens-budget-left": answer.budgetLeft }),
      "x-cache": answer.cache,
      ...(answer.ageS !== undefined && { age: answer.ageS }),
      ...(answer.replayed && { "idempotent-replayed": "true" }),
      "server-timing": `total;dur=${(performance.now() - request.receivedAtMs).toFixed(1)}`,
    });
    if (accepted.type !== "json") {
      const { text, headers } = listAnswer(answer.json, accepted, fieldsOf(body));
      return reply.headers(headers).send(text);
    }
    return reply.type("application/json; charset=utf-8").send(older?.complete(answer.json) ?? answer.json);
  });

  app.post("/v1/data/estimate", { bodyLimit: mostBodyBytes }, async (request, reply) => {
    const principal = await admitCall(parts, request, reply);
    const body = readQueryBody(request);
    // Rate-limited like one call, but it costs the database as much as all of its queries.
    await takeAllowance(parts, principal, countQuestions(body) - 1);
    return estimate(parts.pipeline, principal, body);
  });
}

/** A body may be longer than others only if it names an operation with long parameters. */
function readQueryBody(request: FastifyRequest): unknown {
  const bytes = (request.body as Buffer | undefined)?.length ?? 0;
  if (bytes <= BODY_LIMIT_BYTES) return readJson(request);
  const tooLarge = new Failure("body_too_large", { limit: BODY_LIMIT_BYTES });
  let body: unknown;
  try {
    body = readJson(request);
  } catch (error) {
    throw error instanceof Failure && error.code === "unsupported_media_type" ? error : tooLarge;
  }
  const { queries } = (body ?? {}) as { readonly queries?: unknown };
  const limits = (Array.isArray(queries) ? queries : [body]).map(bodyLimitOf);
  if (bytes > Math.max(...limits)) throw tooLarge;
  return body;
}

function isDryRun(body: unknown): boolean {
  return (body as { readonly dry_run?: unknown } | null)?.dry_run === true;
}

/** The fields of a body that was read without a fault. */
function fieldsOf(body: unknown): readonly string[] | undefined {
  return (body as { readonly fields?: readonly string[] }).fields;
}

/** Each query counts as a call. A body that cannot be read counts as one. */
function costOf(request: FastifyRequest): number {
  try {
    return Math.min(countQuestions(readQueryBody(request)), mostQueries);
  } catch {
    return 1;
  }
}

/** Each item is the body that its query alone would get. */
function sendSeveral(
  parts: HttpParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { items, usage, replayed }: SeveralReply,
): FastifyReply {
  const language = languageOf(request.headers["accept-language"]);
  const bodies = items.map((item) => {
    if ("json" in item) return item.json;
    const { failure } = item;
    if (failure.code === "internal_error")
      parts.logger.error({ request_id: request.id, err: failure.cause }, "internal error");
    return Buffer.from(scrub(JSON.stringify(errorBodyOf(failure, request.id, request.url, language))));
  });
  const end = `],"request_id":${JSON.stringify(request.id)},"usage":${JSON.stringify(usage)}}`;
  request.notes.tokens = usage.tokens;
  request.notes.cached = usage.cached;
  reply.headers({
    "x-tokens-used": usage.tokens,
    "x-tokens-balance": usage.balance,
    ...(usage.budget_left !== undefined && { "x-tokens-budget-left": usage.budget_left }),
    "x-cache": usage.cached ? "HIT" : "MISS",
    ...(replayed && { "idempotent-replayed": "true" }),
    "server-timing": `total;dur=${(performance.now() - request.receivedAtMs).toFixed(1)}`,
  });
  const list = bodies.flatMap((body, place) => (place === 0 ? [body] : [comma, body]));
  const whole = Buffer.concat([Buffer.from('{"data":['), ...list, Buffer.from(end)]);
  return reply.type("application/json; charset=utf-8").send(whole);
}

const comma = Buffer.from(",");

function readIdempotencyKey(request: FastifyRequest): string | undefined {
  const header = request.headers["idempotency-key"];
  if (header === undefined) return undefined;
  if (typeof header === "string" && /^[\x20-\x7e]{1,255}$/.test(header)) return header;
  throw invalid(
    "Idempotency-Key",
    "format",
    "Idempotency-Key must be 1 to 255 printable ASCII characters",
    "send 1 to 255 printable ASCII characters",
    "请发送 1 到 255 个可打印的 ASCII 字符",
  );
}

function readCacheControl(request: FastifyRequest): "bypass" | "only" | "none" | undefined {
  const header = request.headers["cache-control"];
  if (header?.includes("no-store")) return "none";
  if (header?.includes("only-if-cached")) return "only";
  return header?.includes("no-cache") ? "bypass" : undefined;
}
