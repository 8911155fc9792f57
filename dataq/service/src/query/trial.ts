import { chinaDate, Failure, type Language, warningText } from "@dataq/contract";
import type { Sent, Trial, TrialOperation, tried } from "@dataq/contract/wire";
import type { Call } from "./call.ts";
import { writePayload } from "./envelope.ts";
import type { PipelineParts } from "./parts.ts";
import { readRequest } from "./request/request.ts";
import { runSource } from "./source-run.ts";
import { priceOfCall } from "./tariff.ts";

/** Records of a list that a trial shows. All citations of its short text are shown. */
const shownRecords = { legal_laws: 3, legal_citation_check: 200 } as const;

/**
 * Answers a question of somebody without an account. Nothing is charged, kept or counted as a call, and only real
 * records that are here answer: a vendor would be paid for it.
 */
export async function answerTrial(
  parts: Pick<PipelineParts, "sources" | "prices" | "sourceLimitMs" | "clock">,
  { operation, text }: Trial,
  asker: Pick<Call, "requestId" | "signal"> & { readonly language: Language },
): Promise<Sent<typeof tried>> {
  const now = parts.clock();
  const body = {
    operation,
    params: operation === "legal_laws" ? { query: text } : { text },
    page_size: shownRecords[operation],
  };
  const request = readRequest(body, { today: chinaDate(now) });
  const source = parts.sources.find(operation);
  if (source === undefined || ((await source.answeredBy?.("call")) ?? "imported") !== "imported")
    throw noTrial(operation);
  await source.check?.(request.params, false);
  const listed = await parts.prices.find(operation, now);
  const count = (await source.count?.(request.params, false)) ?? 1;
  const price = priceOfCall(listed, request.operation, count);
  const answer = await runSource(parts, { request, source, price, call: asker, now }, false);
  const written = JSON.parse(writePayload(request, answer).bytes().toString()) as {
    readonly data: readonly Record<string, unknown>[];
    readonly total: number;
    readonly summary?: Record<string, unknown>;
  };
  return {
    operation,
    data: written.data,
    total: written.total,
    ...(written.summary && { summary: written.summary }),
    warnings: [...request.warnings, ...answer.warnings].map((each) => warningText(each, asker.language)),
    tokens: price.tokens,
  };
}

/** The error where this service offers none. */
export function noTrial(operation: TrialOperation): Failure {
  return new Failure("not_found", { what: `A trial of ${operation}` });
}
