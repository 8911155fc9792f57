import { expect, test } from "vitest";
import type { StoredRanking } from "../hot-rank/corpus.ts";
import { changePercent } from "./change.ts";

const days = (month: string) =>
  Array.from({ length: 10 }, (_, day) => `${month}-${String(day + 1).padStart(2, "0")}`);
const before = days("2024-03");
const now = days("2025-03");

/** Makes a list for each day. Heat is null, as in an archive without heat. */
function lists(platform: string, dates: readonly string[], titles: string[], heat: number | null = null) {
  return dates.map(
    (date): StoredRanking => ({
      id: `${platform}|${date}`,
      platform,
      date,
      items: titles.map((title) => ({ title, heat, reads: null, discussions: null })),
      source: { name: "archive", kind: "third_party", retrieved_at: "2025-04-01", content_sha256: "" },
    }),
  );
}

const change = (...rankings: StoredRanking[][]) => changePercent("地铁", rankings.flat(), before, now);

test("compares places, whatever heat the later archive has", () => {
  // The keyword moves from second place (49 points) to first (50).
  const later = lists("weibo", now, ["地铁新线", "别的"], 900_000);
  expect(change(lists("weibo", before, ["别的", "地铁票价"]), later)).toBe(2);
});

test("ignores a platform that the archive lacks on one side", () => {
  const weibo = [...lists("weibo", before, ["地铁"]), ...lists("weibo", now, ["地铁"])];
  expect(change(weibo, lists("zhihu", now, ["地铁"]))).toBe(0);
  expect(change(weibo, lists("zhihu", now, ["地铁"]), lists("zhihu", before.slice(0, 4), ["地铁"]))).toBe(0);
  // Half of the days are enough; the figures are per day.
  expect(change(lists("weibo", before.slice(5), ["地铁"]), lists("weibo", now, ["地铁"]))).toBe(0);
});

test("counts a day once that two archives contain", () => {
  const twice = [...lists("weibo", now, ["地铁"]), ...lists("weibo", now, ["地铁"])];
  expect(change(lists("weibo", before, ["地铁"]), twice)).toBe(0);
});

test("the unknown is null, and a keyword that disappeared has lost a hundred percent", () => {
  expect(change(lists("weibo", now, ["地铁"]))).toBeNull();
  expect(change(lists("weibo", before, ["别的"]), lists("weibo", now, ["地铁"]))).toBeNull();
  expect(change(lists("weibo", before, ["地铁"]), lists("weibo", now, ["别的"]))).toBe(-100);
});
