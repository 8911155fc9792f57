import { Failure, findOperation, type Operation, type Params } from "@dataq/contract";
import type { Connector } from "../connector/connector.ts";
import { inEnglish } from "../importer/message.ts";
import { ownForm } from "../importer/own-form.ts";
import { provenanceOf } from "../importer/provenance.ts";
import { single, whole } from "./answers.ts";
import { cacheOf, demandPhoneTail } from "./cloud/express-tracking/carrier.ts";
import { shixinAnswer } from "./enterprise/shixin-check/summary.ts";
import { zhixingAnswer } from "./enterprise/zhixing-check/summary.ts";
import type { Answer, Page, Source, SourceContext } from "./source.ts";

/** Answers an operation from a vendor. What the vendor gives must be the operation's record, else it is 502. */
export function connected(connector: Connector): Source {
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
    // Nothing tells when a vendor's data change; the cache time bounds their age.
    version: async () => vendor.name,
    async run(params: Params, page: Page, context: SourceContext): Promise<Answer> {
      const asked = operation.paged
        ? { ...params, page: String(page.page), page_size: String(page.pageSize) }
        : params;
      const found = await connector.ask(asked, context.signal);
      if (found.outcome === "verification_required") {
        const { phone_tail: _, ...without } = params;
        demandPhoneTail({ code: "shunfeng", name: "The carrier" }, without);
      }
      if (found.outcome === "record") {
        const record = recordOf(found.fields, context.now);
        const cacheS =
          operation.name === "cloud_express_tracking" ? cacheOf(record as { signed: boolean }) : undefined;
        return { ...single(record), ...(cacheS !== undefined && { cacheS }) };
      }
      if (found.outcome === "records") {
        const records = found.list.map((fields) => recordOf(fields, context.now));
        return listed(operation, params, records, found.total, page);
      }
      return operation.kind === "list" ? listed(operation, params, [], 0, page) : single(undefined);
    },
  };
}

function listed(operation: Operation, params: Params, records: object[], total: number, page: Page): Answer {
  if (operation.name === "enterprise_shixin_check")
    return shixinAnswer(params["company_name"] ?? "", records);
  if (operation.name === "enterprise_zhixing_check") return zhixingAnswer(records);
  const answer = whole(records);
  const isPastEnd = operation.paged && records.length === 0 && page.page > 1;
  return {
    ...answer,
    total: operation.paged ? total : answer.total,
    ...(isPastEnd && { outcome: "past_end" as const }),
  };
}
