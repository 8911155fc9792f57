import type { StoredRanking } from "../hot-rank/corpus.ts";

/**
 * The change in percent of a keyword's place on the lists between two periods. Compares only places, because
 * older archives have no heat. Uses only platforms whose archive has at least half of the days in both
 * periods; each counts with its daily mean. Null if there is no such platform, or if the keyword was on none
 * of their lists in the earlier period.
 */
export function changePercent(
  keyword: string,
  rankings: readonly StoredRanking[],
  before: readonly string[],
  now: readonly string[],
): number | null {
  const was = meansOf(keyword, rankings, before);
  const is = meansOf(keyword, rankings, now);
  const platforms = [...was.keys()].filter((platform) => is.has(platform));
  const [sumBefore = 0, sumNow = 0] = [was, is].map((means) =>
    platforms.reduce((sum, platform) => sum + (means.get(platform) ?? 0), 0),
  );
  return sumBefore === 0 ? null : Math.round((1000 * (sumNow - sumBefore)) / sumBefore) / 10;
}

/** 50 for the first place of a list, 1 for the fiftieth and below. */
export function pointsOf(place: number): number {
  return 51 - Math.min(place + 1, 50);
}

/** Points per day, for each platform with enough days. */
function meansOf(
  keyword: string,
  rankings: readonly StoredRanking[],
  days: readonly string[],
): ReadonlyMap<string, number> {
  const wanted = keyword.toLowerCase();
  const pointsByDay = new Map<string, Map<string, number>>();
  for (const { platform, date, items } of rankings) {
    if (!days.includes(date)) continue;
    const points = items.reduce(
      (sum, { title }, place) => (title.toLowerCase().includes(wanted) ? sum + pointsOf(place) : sum),
      0,
    );
    const held = pointsByDay.get(platform) ?? new Map<string, number>();
    // A day in two archives counts once.
    held.set(date, Math.max(points, held.get(date) ?? 0));
    pointsByDay.set(platform, held);
  }
  const enough = [...pointsByDay].filter(([, held]) => held.size * 2 >= days.length);
  return new Map(
    enough.map(([platform, held]) => [
      platform,
      [...held.values()].reduce((sum, points) => sum + points, 0) / held.size,
    ]),
  );
}
