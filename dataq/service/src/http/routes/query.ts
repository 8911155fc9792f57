import { Failure, invalid } from "@dataq/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { countQuestions, estimate } from "../../query/estimate.ts";
import { readOlderRequest } from "../../query/older-profile.ts";
import { answerCall } from "../../query/pipeline.ts";
import { leaveSignal } from "../app.ts";
import { readJson } from "../body.ts";
import { readBudget } from "../budget.ts";
import { admitCall, takeAllowance } from "../call-limits.ts";
import type { HttpParts } from "../parts.ts";

/** Calls an operation, and estimates what a call would cost. */
export function addQueryRoutes(app: FastifyInstance, parts: HttpParts): void {
  app.post("/v1/data/query", async (request, reply) => {
    const principal = await admitCall(parts, request, reply);
    const idempotencyKey = readIdempotencyKey(request);
    const budget = readBudget(request, principal);
    const body = readJson(request);
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

  app.post("/v1/data/estimate", async (request, reply) => {
    const principal = await admitCall(parts, request, reply);
    const body = readJson(request);
    // Rate-limited like one call, but it costs the database as much as all of its queries.
    await takeAllowance(parts, principal, countQuestions(body) - 1);
    return estimate(parts.pipeline, principal, body);
  });
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
