import { Failure, findOperation, invalid, type Operation, operations } from "@dataq/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { countQuestions, estimate } from "../../query/estimate.ts";
import { readOlderRequest } from "../../query/older-profile.ts";
import { answerCall } from "../../query/pipeline.ts";
import { BODY_LIMIT_BYTES, leaveSignal } from "../app.ts";
import { readJson } from "../body.ts";
import { readBudget } from "../budget.ts";
import { admitCall, takeAllowance } from "../call-limits.ts";
import type { HttpParts } from "../parts.ts";

/** Calls an operation, and estimates what a call would cost. */
export function addQueryRoutes(app: FastifyInstance, parts: HttpParts): void {
  app.post("/v1/data/query", { bodyLimit: mostBodyBytes }, async (request, reply) => {
    const principal = await admitCall(parts, request, reply);
    const idempotencyKey = readIdempotencyKey(request);
    const budget = readBudget(request, principal);
    const body = readQueryBody(request);
    const older = readOlderRequest(body);
    const answer = await answerCall(parts.pipeline, {
      requestId: request.id,
      principal,
      body: older?.body ?? body,
      ...(older !== undefined && { offset: older.offset }),
      idempotencyKey,
      budget,
      lenient: /\bhandling=lenient\b/.test(String(request.headers["prefer"] ?? "")),
      cacheControl: readCacheControl(request),
      signal: leaveSignal(reply),
      onOperation: (operation) => {
        request.notes.operation = operation;
      },
    }).catch((error: unknown) => {
      if (principal.key && error instanceof Failure && error.code === "spend_limit_reached")
        parts.keys.noteRefusal(principal.key, error.code, request.ip, parts.clock());
      throw error;
    });
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

const list: readonly Operation[] = operations;
const mostBodyBytes = Math.max(...list.map(({ bodyBytes }) => bodyBytes ?? BODY_LIMIT_BYTES));

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

function bodyLimitOf(query: unknown): number {
  const { domain, operation } = (query ?? {}) as Readonly<Record<string, unknown>>;
  const name = String(operation).trim().toLowerCase();
  const found =
    findOperation(name) ??
    findOperation(`${String(domain).toLowerCase()}_${name}`) ??
    list.find((each) => each.name === `${each.domain}_${name}`);
  return found?.bodyBytes ?? BODY_LIMIT_BYTES;
}

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

function readCacheControl(request: FastifyRequest): "bypass" | "only" | undefined {
  const header = request.headers["cache-control"];
  if (header?.includes("only-if-cached")) return "only";
  return header?.includes("no-cache") ? "bypass" : undefined;
}
