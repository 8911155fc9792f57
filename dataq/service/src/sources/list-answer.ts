import { type Warning, warning } from "@dataq/contract";
import type { Hit } from "../search/search-index.ts";
import type { TextFound } from "../search/text-search.ts";
import { type Answer, offsetOf, type Page } from "./source.ts";

/** A page of search results. A corpus that does not exist is treated as empty. */
export function listAnswer(
  found: TextFound | undefined,
  page: Page,
  render: (hit: Hit) => object,
  warnings: readonly Warning[] = [],
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

function warningsOf({
  relaxed,
  notFound,
  onlyRelated,
  corrected,
  undated,
  total,
  isWordless,
}: TextFound): Warning[] {
  const warnings = corrected.map(({ word, instead }) => warning("word_corrected", { word, instead }));
  if (isWordless) warnings.push(warning("close_in_meaning"));
  else if (notFound.length > 0 && total > 0) warnings.push(warning("words_not_found", { words: notFound }));
  else if (onlyRelated.length > 0 && corrected.length === 0)
    warnings.push(warning("related_words", { words: onlyRelated }));
  else if (relaxed && corrected.length === 0) warnings.push(warning("some_words"));
  if (undated > 0) warnings.push(warning("undated_left_out", { count: undated }));
  return warnings;
}
