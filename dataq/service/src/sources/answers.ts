import type { Warning } from "@dataq/contract";
import type { Answer } from "./source.ts";

/** A single record, or `not_found`. */
export function single(record: object | undefined, warnings: readonly Warning[] = []): Answer {
  if (record === undefined) return { outcome: "not_found", total: 0, totalRelation: "eq", warnings };
  return { outcome: "found", record, total: 1, totalRelation: "eq", warnings };
}

/** A complete list without pages. An empty list is an answer. */
export function whole(
  records: readonly object[],
  summary?: object,
  warnings: readonly Warning[] = [],
): Answer {
  return {
    outcome: records.length === 0 ? "empty" : "found",
    records,
    total: records.length,
    totalRelation: "eq",
    warnings,
    ...(summary !== undefined && { summary }),
  };
}
