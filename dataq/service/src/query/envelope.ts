import type { Usage } from "@dataq/contract";
import type { Answer } from "../sources/source.ts";
import type { QueryRequest } from "./request.ts";

/**
 * The part of an envelope that is the same for everybody who asks: written once, kept as text, and completed for
 * each call without being parsed again.
 */
export function writePayload(request: QueryRequest, answer: Answer): string {
  const { operation, page, pageSize } = request;
  const total = operation.kind === "single" && answer.record ? 1 : answer.total;
  const totalPages = operation.paged ? Math.ceil(total / pageSize) : 1;
  const data = answer.record ?? answer.records ?? [];
  return JSON.stringify({
    data: request.fields ? project(data, request.fields) : data,
    page,
    page_size: pageSize,
    total,
    total_relation: answer.totalRelation,
    total_pages: totalPages,
    has_more: page < totalPages,
    domain: operation.domain,
    operation: operation.name,
    ...(answer.summary && { summary: answer.summary }),
    ...(answer.index && { index: answer.index }),
    ...(answer.relaxed && { relaxed: true }),
    warnings: answer.warnings,
  });
}

/** The whole body of an answer. `warnings` are those of this call's own request. */
export function completeEnvelope(
  payload: string,
  warnings: readonly string[],
  requestId: string,
  usage: Usage,
): string {
  const whole = warnings.length === 0 ? payload : withWarnings(payload, warnings);
  return `${whole.slice(0, -1)},"request_id":${JSON.stringify(requestId)},"usage":${JSON.stringify(usage)}}`;
}

function withWarnings(payload: string, warnings: readonly string[]): string {
  const parsed = JSON.parse(payload) as { warnings: readonly string[] };
  return JSON.stringify({ ...parsed, warnings: [...warnings, ...parsed.warnings] });
}

function project(data: readonly object[] | object, fields: readonly string[]): readonly object[] | object {
  const pick = (record: object) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => name === "id" || fields.includes(name)));
  return Array.isArray(data) ? data.map(pick) : pick(data);
}
