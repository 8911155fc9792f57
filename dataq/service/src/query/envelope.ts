import { type Language, type Usage, type Warning, warningText } from "@dataq/contract";
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
    ...(answer.coverage && { coverage: answer.coverage }),
    // The last member, where `completeEnvelope` finds it.
    warnings: answer.warnings,
  };
  const data = answer.record
    ? writeRecord(answer.record)
    : [opening, ...joined((answer.records ?? []).map(writeRecord)), closing];
  return new Payload([beforeData, ...data.flat(), Buffer.from(`,${JSON.stringify(rest).slice(1)}`)]);
}

const beforeData = Buffer.from('{"data":');
const opening = Buffer.from("[");
const comma = Buffer.from(",");
const closing = Buffer.from("]");

function joined(records: readonly (readonly Part[])[]): Part[] {
  return records.flatMap((parts, place) => (place === 0 ? parts : [comma, ...parts]));
}

function writeRecord(record: object | WrittenRecord): readonly Part[] {
  return record instanceof WrittenRecord ? record.parts : [Buffer.from(JSON.stringify(record))];
}

/** With `fields`, only those and the ID. They are chosen here, so that they change neither price nor cache. */
function project(record: object, fields: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => name === "id" || fields.includes(name)),
  );
}

/** What a request changes in an answer that others share. */
type Own = Pick<QueryRequest, "warnings" | "fields">;

/** The whole body of an answer. */
export function completeEnvelope(
  payload: Payload,
  own: Own,
  { requestId, language }: Asker,
  usage: Usage,
): Buffer {
  const end = `,"request_id":${JSON.stringify(requestId)},"usage":${JSON.stringify(usage)}}`;
  const parts = own.fields === undefined ? payload.parts.map(bytesOf) : [withFields(payload, own.fields)];
  const last = parts.pop() as Buffer;
  const at = last.lastIndexOf(beforeWarnings) + beforeWarnings.length;
  const kept = JSON.parse(last.subarray(at, -1).toString()) as (Warning | string)[];
  const told = [...own.warnings, ...kept].map((each) => inLanguage(each, language));
  return Buffer.concat([...parts, last.subarray(0, at), Buffer.from(JSON.stringify(told) + end)]);
}

/** Who gets an answer: an answer is kept for callers of both languages. */
interface Asker {
  readonly requestId: string;
  readonly language: Language;
}

// In a text, the quotes would be escaped.
const beforeWarnings = Buffer.from(',"warnings":');

/** Replies that an older dataq kept for a retry have sentences. */
function inLanguage(kept: Warning | string, language: Language): string {
  return typeof kept === "string" ? kept : warningText(kept, language);
}

function withFields(payload: Payload, fields: readonly string[]): Buffer {
  const { data, ...rest } = JSON.parse(payload.bytes().toString()) as { data: object | readonly object[] };
  const chosen = (record: object) => project(record, fields);
  return Buffer.from(
    JSON.stringify({ data: Array.isArray(data) ? data.map(chosen) : chosen(data), ...rest }),
  );
}
