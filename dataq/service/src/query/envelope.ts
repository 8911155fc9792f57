import type { Usage } from "@dataq/contract";
import type { Answer } from "../sources/source.ts";
import { bytesOf, type Part, WrittenRecord } from "../sources/written-record.ts";
import { Payload } from "./payload.ts";
import type { QueryRequest } from "./request/request.ts";

/**
 * The part of an envelope that is the same for every caller: written once, kept as bytes, and completed for each call
 * without being parsed again.
 */
export function writePayload(request: QueryRequest, answer: Answer): Payload {
  const { operation, page, pageSize } = request;
  const total = operation.kind === "single" && answer.record ? 1 : answer.total;
  const totalPages = operation.paged ? Math.ceil(total / pageSize) : 1;
  const rest = {
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
    ...(answer.sample && { sample: true }),
    warnings: answer.warnings,
  };
  const data = answer.record
    ? writeRecord(answer.record, request.fields)
    : [opening, ...joined((answer.records ?? []).map((each) => writeRecord(each, request.fields))), closing];
  return new Payload([beforeData, ...data.flat(), Buffer.from(`,${JSON.stringify(rest).slice(1)}`)]);
}

const beforeData = Buffer.from('{"data":');
const opening = Buffer.from("[");
const comma = Buffer.from(",");
const closing = Buffer.from("]");

function joined(records: readonly (readonly Part[])[]): Part[] {
  return records.flatMap((parts, place) => (place === 0 ? parts : [comma, ...parts]));
}

/** JSON in parts. With `fields`, only those and the ID. */
function writeRecord(record: object | WrittenRecord, fields: readonly string[] | undefined): readonly Part[] {
  if (record instanceof WrittenRecord && fields === undefined) return record.parts;
  const read = record instanceof WrittenRecord ? record.parse() : record;
  return [Buffer.from(JSON.stringify(fields === undefined ? read : project(read, fields)))];
}

function project(record: object, fields: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => name === "id" || fields.includes(name)),
  );
}

/** The whole body of an answer. `warnings` are those of this request. */
export function completeEnvelope(
  payload: Payload,
  warnings: readonly string[],
  requestId: string,
  usage: Usage,
): Buffer {
  const end = `,"request_id":${JSON.stringify(requestId)},"usage":${JSON.stringify(usage)}}`;
  const parts = warnings.length === 0 ? payload.parts.map(bytesOf) : [withWarnings(payload, warnings)];
  const last = parts.pop() as Buffer;
  return Buffer.concat([...parts, last.subarray(0, -1), Buffer.from(end)]);
}

function withWarnings(payload: Payload, warnings: readonly string[]): Buffer {
  const parsed = JSON.parse(payload.bytes().toString()) as { warnings: readonly string[] };
  return Buffer.from(JSON.stringify({ ...parsed, warnings: [...warnings, ...parsed.warnings] }));
}
