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
    totalRelation: "eq",
    warnings: found.relaxed ? [...warnings, relaxedWarning] : warnings,
    index: found.index,
    ...(found.relaxed && { relaxed: true }),
  };
}

const relaxedWarning = "Not all words were found together; these results hold only some of them.";
