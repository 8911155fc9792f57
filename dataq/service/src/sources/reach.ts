import type { Params, PartHeld } from "@dataq/contract";
import type { Coverage } from "@dataq/contract/wire";

/** The days and the parts, such as a platform or a region, that a question asks about. */
export interface Reach {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** English names of parts of the coverage. */
  readonly parts?: readonly string[] | undefined;
  /** The part without which nothing can be found; by default any of `parts` is enough. */
  readonly needs?: string | undefined;
}

/** Reads the days from the parameters that filter by day, and the platform; undefined if the question names none. */
export function reachOf({ date, date_from, date_to, year, platform }: Params): Reach | undefined {
  const from = date || date_from || (year && `${year}-01-01`);
  const to = date || date_to || (year && `${year}-12-31`);
  if (!from && !to && !platform) return undefined;
  return { from: from || undefined, to: to || undefined, ...(platform && { parts: [platform] }) };
}

/** The days of a trend that ends on the day of the question. */
export function trendReach(days: number): (params: Params) => Reach | undefined {
  return ({ date }) =>
    date
      ? { from: new Date(Date.parse(date) - (days - 1) * dayMs).toISOString().slice(0, 10), to: date }
      : undefined;
}

const dayMs = 86_400_000;

/**
 * Whether a question reaches beyond what is held: in `part`, or altogether (`nothing`), so that nothing could have been
 * found. Records that are not counted by parts say nothing about parts.
 */
export function beyond(
  { from, to, parts = [], needs }: Reach,
  coverage: Coverage,
): ({ readonly how: "part" | "nothing" } & Pick<PartHeld, "oldest_day" | "newest_day">) | undefined {
  const isCounted = coverage.parts.length > 0;
  const held = coverage.parts.filter(({ what, count }) => count > 0 && parts.includes(what.en));
  const lacksNeeded = needs !== undefined && !held.some(({ what }) => what.en === needs);
  const { oldest_day, newest_day } = daysOf(held, coverage);
  const days = { oldest_day, newest_day };
  if (isCounted && parts.length > 0 && (held.length === 0 || lacksNeeded)) return { how: "nothing", ...days };
  const isApart =
    (from !== undefined && newest_day !== null && from > newest_day) ||
    (to !== undefined && oldest_day !== null && to < oldest_day);
  if (isApart) return { how: "nothing", ...days };
  const isPart =
    (isCounted && held.length < parts.length) ||
    (from !== undefined && oldest_day !== null && from < oldest_day) ||
    (to !== undefined && newest_day !== null && to > newest_day);
  return isPart ? { how: "part", ...days } : undefined;
}

/** The days of the parts that are asked for, or of everything where these have none. */
function daysOf(held: Coverage["parts"], all: Coverage): Pick<PartHeld, "oldest_day" | "newest_day"> {
  const oldest = held.flatMap(({ oldest_day }) => oldest_day ?? []).sort()[0];
  const newest = held
    .flatMap(({ newest_day }) => newest_day ?? [])
    .sort()
    .at(-1);
  return { oldest_day: oldest ?? all.oldest_day, newest_day: newest ?? all.newest_day };
}
