import type { Usage } from "@dataq/contract";
import type { Answer } from "../sources/source.ts";
import type { QueryRequest } from "./request.ts";

/**
 * The part of an envelope that is the same for everybody who asks: written once, kept as bytes, and completed for
 * each call without being parsed again.
 */
export function writePayload(request: QueryRequest, answer: Answer): Buffer {
  const { operation, page, pageSize } = request;
  const total = operation.kind === "single" && answer.record ? 1 : answer.total;
  const totalPages = operation.paged ? Math.ceil(total / pageSize) : 1;
  const data = answer.record ?? answer.records ?? [];
  const envelope = {
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
  };
  return Buffer.from(JSON.stringify(envelope));
}

/** The whole body of an answer. `warnings` are those of this call's own request. */
export function completeEnvelope(
  payload: Buffer,
  warnings: readonly string[],
  requestId: string,
  usage: Usage,
): Buffer {
  const whole = warnings.length === 0 ? payload : withWarnings(payload, warnings);
  const end = `,"request_id":${JSON.stringify(requestId)},"usage":${JSON.stringify(usage)}}`;
  return Buffer.concat([whole.subarray(0, -1), Buffer.from(end)]);
}

function withWarnings(payload: Buffer, warnings: readonly string[]): Buffer {
  const parsed = JSON.parse(payload.toString()) as { warnings: readonly string[] };
  return Buffer.from(JSON.stringify({ ...parsed, warnings: [...warnings, ...parsed.warnings] }));
}

function project(data: readonly object[] | object, fields: readonly string[]): readonly object[] | object {
  const pick = (record: object) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => name === "id" || fields.includes(name)));
  return Array.isArray(data) ? data.map(pick) : pick(data);
}
