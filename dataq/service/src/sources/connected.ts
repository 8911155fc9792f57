import { Failure, findOperation, invalid, type Operation, type Params } from "@dataq/contract";
import type { Connector } from "../connector/connector.ts";
import { inEnglish } from "../importer/message.ts";
import { ownForm } from "../importer/own-form.ts";
import { provenanceOf } from "../importer/provenance.ts";
import { single, whole } from "./answers.ts";
import type { Answer, Page, Source, SourceContext } from "./source.ts";

/** What an operation adds to a vendor's answer. */
export interface FromVendor {
  /** The list as an answer, with its summary. */
  readonly list?: (records: readonly object[], params: Params) => Answer;
  /** How long a record may be cached, in seconds. */
  readonly cacheS?: (record: object) => number;
  /** The error when the vendor requires more identification. */
  readonly verificationNeeded?: () => Failure;
}

/** Answers an operation from a vendor. A response that does not fit the operation's record is a 502. */
export function connected(connector: Connector, adds: FromVendor = {}): Source {
  const { vendor } = connector;
  const operation = findOperation(vendor.operation) as Operation;
  const complete = ownForm(operation.name, (record) => record["id"] ?? Object.values(record)[1]);
  const recordOf = (fields: Readonly<Record<string, unknown>>, now: Date): object => {
    const mapped = complete(fields);
    if (mapped === null || "problem" in mapped) {
      const why = mapped === null ? "no record" : inEnglish(mapped.problem);
      throw new Failure("upstream_error", { operation: operation.name }, new Error(why));
    }
    const publication = {
      name: vendor.name,
      kind: vendor.kind,
      url: null,
      licence: vendor.licence,
      retrievedAt: now,
    };
    const isSearch = "highlights" in operation.record.shape;
    return {
      ...mapped.record,
      ...(isSearch && { highlights: [], score: null }),
      source: provenanceOf(publication, mapped.record, mapped.record.id),
    };
  };
  return {
    async check(params) {
      // A filter that is not sent would be ignored, and the answer would be wrong.
      const ignored =
        operation.paged && Object.keys(params).find((name) => vendor.takes?.has(name) === false);
      if (ignored) throw unsupported(ignored);
    },
    // Vendors do not announce changes; the cache time limits the age of answers.
    version: async () => vendor.name,
    async run(params: Params, page: Page, context: SourceContext): Promise<Answer> {
      const asked = operation.paged
        ? { ...params, page: String(page.page), page_size: String(page.pageSize) }
        : params;
      const found = await connector.ask(asked, context.signal);
      if (found.outcome === "verification_required")
        throw adds.verificationNeeded?.() ?? new Failure("upstream_error", { operation: operation.name });
      if (found.outcome === "record") {
        const record = recordOf(found.fields, context.now);
        return { ...single(record), ...(adds.cacheS && { cacheS: adds.cacheS(record) }) };
      }
      if (found.outcome === "records") {
        const records = found.list.map((fields) => recordOf(fields, context.now));
        return adds.list?.(records, params) ?? listed(operation, records, found.total, page);
      }
      if (operation.kind === "single") return single(undefined);
      return adds.list?.([], params) ?? listed(operation, [], 0, page);
    },
  };
}

function unsupported(name: string): Failure {
  const param = `params.${name}`;
  return invalid(
    param,
    "unsupported",
    `${param} is not supported by the source that answers here`,
    "omit it",
    "请去掉该参数",
  );
}

function listed(operation: Operation, records: object[], total: number, page: Page): Answer {
  const answer = whole(records);
  const isPastEnd = operation.paged && records.length === 0 && page.page > 1;
  return {
    ...answer,
    total: operation.paged ? total : answer.total,
    ...(isPastEnd && { outcome: "past_end" as const }),
  };
}
