import { counted } from "@dataq/contract";
import type { Hit } from "../search/search-index.ts";
import type { TextFound } from "../search/text-search.ts";
import { type Answer, offsetOf, type Page } from "./source.ts";

/** A page of search results. A corpus that does not exist is treated as empty. */
export function listAnswer(
  found: TextFound | undefined,
  page: Page,
  render: (hit: Hit) => object,
  warnings: readonly string[] = [],
): Answer {
  if (found === undefined) {
    return { outcome: "empty", records: [], total: 0, totalRelation: "eq", warnings };
  }
  const isPastEnd = found.hits.length === 0 && offsetOf(page) > 0;
  return {
    outcome: isPastEnd ? "past_end" : found.total === 0 ? "empty" : "found",
    records: found.hits.map(render),
    total: found.total,
    totalRelation: found.totalRelation,
    warnings: [...warnings, ...warningsOf(found)],
    index: found.index,
    ...(found.relaxed && { relaxed: true }),
  };
}

function warningsOf({ relaxed, notFound, corrected, undated, total, isWordless }: TextFound): string[] {
  const warnings = corrected.map(({ word, instead }) => `No record has ${word}; ${instead} was searched.`);
  if (isWordless)
    warnings.push("No record has these words; the records are close to the question in meaning.");
  else if (notFound.length > 0 && total > 0)
    warnings.push(`No record has ${notFound.join(", ")}; the other words were searched.`);
  else if (relaxed && corrected.length === 0) warnings.push("No record has all the words; these have some.");
  if (undated > 0) {
    const records = counted(undated, "record without a date was", "records without a date were");
    warnings.push(`${records} left out by the date filter.`);
  }
  return warnings;
}
