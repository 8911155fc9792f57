import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../sources/source.ts";
import { writePayload } from "./envelope.ts";
import type { PipelineParts } from "./parts.ts";
import type { Question } from "./question.ts";
import { type Reply, readBalance, replyOf, usageOf } from "./reply.ts";
import { type Directive, failureOf } from "./sandbox.ts";
import { notFound, runSource } from "./source-run.ts";

/** Samples are never charged: no hold, no cache, no stored outcome. */
export async function answerInSandbox(
  parts: PipelineParts,
  question: Question,
  directive: Directive | undefined,
): Promise<Reply> {
  const { call, request, now } = question;
  if (directive?.kind === "error") throw failureOf(directive.code, directive.retryAfterS, request.operation);
  if (directive?.kind === "delay") await sleep(directive.ms, undefined, { signal: call.signal });
  const answer =
    directive?.kind === "empty" && request.operation.kind === "list"
      ? emptyAnswer
      : await runSource(parts, question, true);
  if (answer.outcome === "not_found") throw notFound(request, answer);
  const isHit = directive?.kind === "cache_hit";
  const balance = await readBalance(parts, call.principal.account.id, now);
  const usage = {
    ...(await usageOf(parts, question, { tokens: 0, reason: "sandbox" }, balance)),
    cached: isHit,
  };
  const replied = replyOf(writePayload(request, answer), question, usage, isHit ? "HIT" : "MISS");
  return isHit ? { ...replied, ageS: 1 } : replied;
}

const emptyAnswer: Answer = { outcome: "empty", records: [], total: 0, totalRelation: "eq", warnings: [] };
