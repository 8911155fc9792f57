import type { Params } from "@dataq/contract";
import type { Coverage } from "@dataq/contract/wire";

/** The days that a question asks about. */
export interface Reach {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Reads the days from the parameters that filter by day; undefined if the question names none. */
export function reachOf({ date, date_from, date_to, year }: Params): Reach | undefined {
  const from = date || date_from || (year && `${year}-01-01`);
  const to = date || date_to || (year && `${year}-12-31`);
  return from || to ? { from: from || undefined, to: to || undefined } : undefined;
}

/**
 * Whether a question reaches beyond the days that are held: in `part`, or altogether (`nothing`), so that nothing could
 * have been found. A ranking is held by platform.
 */
export function beyond(
  { from, to }: Reach,
  coverage: Coverage,
  { platform }: Params,
):
  | { readonly how: "part" | "nothing"; readonly oldest_day: string; readonly newest_day: string }
  | undefined {
  const held = coverage.parts.find(({ what }) => what.en === platform) ?? coverage;
  const { oldest_day, newest_day } = held;
  if (oldest_day === null || newest_day === null) return undefined;
  const isApart = (from !== undefined && from > newest_day) || (to !== undefined && to < oldest_day);
  if (isApart) return { how: "nothing", oldest_day, newest_day };
  const isPart = (from !== undefined && from < oldest_day) || (to !== undefined && to > newest_day);
  return isPart ? { how: "part", oldest_day, newest_day } : undefined;
}
