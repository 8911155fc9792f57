import type { Coverage } from "@dataq/contract/wire";
import { expect, test } from "vitest";
import { beyond, reachOf } from "./reach.ts";

const coverage: Coverage = {
  text: { en: "12 papers", zh: "12 篇论文" },
  records: 12,
  oldest_day: "2020-02-29",
  newest_day: "2024-12-31",
  parts: [
    { what: { en: "zhihu", zh: "zhihu" }, count: 1, oldest_day: "2024-02-29", newest_day: "2024-02-29" },
  ],
};

test.each([
  [{ query: "x" }, undefined],
  [{ year: "2024" }, undefined],
  [{ year: "2020" }, "part"],
  [{ year: "2019" }, "nothing"],
  [{ year: "2025" }, "nothing"],
  [{ date_from: "2020-02-29" }, undefined],
  [{ date_from: "2020-02-28" }, "part"],
  [{ date_from: "2025-01-01" }, "nothing"],
  [{ date_to: "2024-12-31" }, undefined],
  [{ date_to: "2025-01-01" }, "part"],
  [{ date_to: "2020-02-28" }, "nothing"],
  [{ date_from: "1900-01-01", date_to: "2100-01-01" }, "part"],
  [{ date: "2024-03-01" }, undefined],
  [{ date: "2024-03-01", platform: "zhihu" }, "nothing"],
  [{ date: "2024-02-29", platform: "zhihu" }, undefined],
  [{ date: "2024-03-01", platform: "weibo" }, "nothing"],
  [{ year: "", date_from: "" }, undefined],
])("%j reaches beyond what is held: %s", (params: Record<string, string>, wanted) => {
  const reach = reachOf(params);
  expect(reach && beyond(reach, coverage)?.how).toBe(wanted);
});

test("records without days say nothing about days", () => {
  expect(beyond({ from: "1900-01-01" }, { ...coverage, oldest_day: null, newest_day: null })).toBeUndefined();
});
