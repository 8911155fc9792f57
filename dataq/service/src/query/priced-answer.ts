import { Failure } from "@dataq/contract";
import { writePayload } from "./envelope.ts";
import { hasLeft } from "./held.ts";
import type { PipelineParts } from "./parts.ts";
import type { Payload } from "./payload.ts";
import type { Question } from "./question.ts";
import { notFound, runSource } from "./source-run.ts";
import { type Charge, chargeFor } from "./tariff.ts";

/** An answer of a source, and what it costs. */
export interface PricedAnswer {
  readonly payload: Payload;
  readonly due: Charge;
  /** How long it may be cached, in seconds. */
  readonly ttlS: number;
  /** The version that it was made from, if it is not the one that the source gave before. */
  readonly version?: string;
}

/** Asks the source. Never costs more than was quoted. */
export async function priceAnswer(
  parts: PipelineParts,
  question: Question,
  quoted: Charge,
  key: string | undefined,
): Promise<PricedAnswer> {
  const { call, request } = question;
  const answer = await runSource(parts, question, false);
  parts.failpoint("after_run");
  if (hasLeft(call, key)) throw new Failure("client_closed_request");
  if (answer.outcome === "not_found") throw notFound(request, answer);
  return {
    payload: writePayload(request, answer),
    due: chargeFor(quoted, answer, parts.chargeEmpty),
    ttlS: answer.cacheS ?? request.operation.cacheS,
    ...(answer.version !== undefined && { version: answer.version }),
  };
}
