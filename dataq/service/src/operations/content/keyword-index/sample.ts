import type { Params } from "@dataq/contract";
import { chinaDate } from "@dataq/contract";
import { asSample } from "../../../sample/provenance.ts";
import {
  disclaimer,
  isPublished,
  lastDays,
  level,
  mean,
  otherDay,
  percent,
  sampleDay,
  shifted,
} from "../../../sample/series.ts";
import { single } from "../../../sources/answers.ts";
import type { Answer, Page, Source, SourceContext } from "../../../sources/source.ts";

export const sampleKeywords: Source = {
  version: async () => "sample-2",
  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const { keyword = "", date = "" } = params;
    if (!isPublished(keyword, date, chinaDate(context.now))) return single(undefined);
    return single(keywordIndex(keyword, sampleDay), otherDay(date));
  },
};

/** A keyword's search index over the 30 days up to `date`. */
export function keywordIndex(keyword: string, date: string) {
  const trend = lastDays(date, 30).map((day) => {
    const index = level(`keyword ${keyword}`, day, 6_000);
    const pc = Math.round(index * 0.35);
    return { date: day, index, pc, mobile: index - pc };
  });
  const last = trend[trend.length - 1] as (typeof trend)[number];
  const average = mean(trend.map(({ index }) => index));
  return asSample({
    id: `keyword:${keyword}:${date}`,
    keyword,
    date,
    engine: "sample",
    granularity: "day" as const,
    index: last.index,
    pc: last.pc,
    mobile: last.mobile,
    average_30d: average,
    yoy_percent: percent(last.index, level(`keyword ${keyword}`, shifted(date, -365), 6_000)),
    mom_percent: percent(
      average,
      mean(lastDays(shifted(date, -30), 30).map((day) => level(`keyword ${keyword}`, day, 6_000))),
    ),
    trend,
    related: ["最新", "价格", "怎么办"].map((tail) => ({
      keyword: `${keyword}${tail}`,
      index: level(`keyword ${keyword}${tail}`, date, 900),
    })),
    estimated: true,
    disclaimer,
  });
}
