import type { Params } from "@dataq/contract";
import { both, type DateRange, dateRange } from "../../search/date-range.ts";
import type { SearchIndex } from "../../search/search-index.ts";

/** The days that the filters `year`, `date_from` and `date_to` allow. */
export function daysOf(params: Params): DateRange | undefined {
  const { year } = params;
  return both(
    year === undefined ? undefined : { from: `${year}-01-01`, to: `${year}-12-31` },
    dateRange(params),
  );
}

/** Whether no record of these days is held, so that an empty answer is free. */
export async function isWithoutRecords(
  index: SearchIndex,
  corpus: string,
  dates: DateRange,
): Promise<boolean> {
  const found = await index.search(corpus, { query: { all: [] }, dates }, { offset: 0, limit: 0 });
  return found?.total === 0;
}
