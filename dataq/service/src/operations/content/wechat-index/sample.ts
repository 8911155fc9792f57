import type { Params } from "@dataq/contract";
import { chinaDate } from "@dataq/contract";
import { asSample } from "../../../sample/provenance.ts";
import {
  disclaimer,
  isPublished,
  lastDays,
  level,
  otherDay,
  percent,
  sampleDay,
} from "../../../sample/series.ts";
import { single } from "../../../sources/answers.ts";
import type { Answer, Page, Source, SourceContext } from "../../../sources/source.ts";

export const sampleWechat: Source = {
  version: async () => "sample-2",
  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const { keyword = "", date = "" } = params;
    if (!isPublished(keyword, date, chinaDate(context.now))) return single(undefined);
    return single(wechatIndex(keyword, sampleDay), otherDay(date));
  },
};

/** A keyword's popularity on WeChat over the 30 days up to `date`. */
export function wechatIndex(keyword: string, date: string) {
  const trend = lastDays(date, 30).map((day) => ({
    date: day,
    index: level(`wechat ${keyword}`, day, 900_000),
  }));
  const index = trend[29]?.index ?? 0;
  const shares = [0.42, 0.21, 0.2, 0.08, 0.06];
  const [search, accounts, video, programs, moments] = shares.map((share) => Math.round(index * share)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return asSample({
    id: `wechat:${keyword}:${date}`,
    keyword,
    date,
    index,
    day_change_percent: percent(index, trend[28]?.index ?? 0),
    channels: {
      search,
      official_accounts: accounts,
      channels_video: video,
      mini_programs: programs,
      moments,
      other: index - search - accounts - video - programs - moments,
    },
    trend,
    disclaimer,
  });
}
