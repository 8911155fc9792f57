import { chinaDate, instantInChina, type Params, platforms } from "@dataq/contract";
import { asSample } from "../../../sample/provenance.ts";
import { Random } from "../../../sample/random.ts";
import { otherDay, sampleDay } from "../../../sample/series.ts";
import { whole } from "../../../sources/answers.ts";
import type { Answer, Page, Source, SourceContext } from "../../../sources/source.ts";
import { unknownPlatform } from "./platform.ts";

const samplePlatforms: readonly string[] = ["weibo", "zhihu", "baidu"];
export const rankSamples: readonly Params[] = samplePlatforms.flatMap((platform): Params[] => [
  { platform },
  { platform, date: sampleDay },
]);

export const sampleRanks: Source = {
  version: async () => "sample-2",
  async check({ platform = "" }: Params): Promise<void> {
    if (!(platforms as readonly string[]).includes(platform)) throw unknownPlatform(platform, platforms);
  },
  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const { platform = "", date = "" } = params;
    const isToday = date === chinaDate(context.now);
    if (!samplePlatforms.includes(platform) || (!isToday && date !== sampleDay)) return whole([]);
    const summary = {
      platform,
      date: sampleDay,
      captured_at: null,
      snapshot_kind: isToday ? "latest" : "end_of_day",
    };
    return whole(hotRank(platform, sampleDay), summary, otherDay(date));
  },
};

const places = [
  "杭州",
  "成都",
  "西安",
  "广州",
  "武汉",
  "长沙",
  "青岛",
  "哈尔滨",
  "重庆",
  "南京",
  "厦门",
  "昆明",
];
const subjects = [
  "地铁新线开通",
  "高校招生方案",
  "夜市开放时间",
  "老城改造",
  "马拉松报名",
  "博物馆新展",
  "新能源公交",
  "图书馆通宵开放",
  "人才公寓申请",
  "花期预报",
  "暴雨应对",
  "旧书市集",
  "机器人大赛",
  "消费券发放",
];
const tails = ["", "公布", "引热议", "最新进展", "一图看懂", "时间定了", "为什么火了"];

/** Fifty topics of a platform on a day. */
export function hotRank(platform: string, date: string) {
  const random = new Random(`hot ${platform} ${date}`);
  const titles = new Set<string>();
  while (titles.size < 50)
    titles.add(`示例话题：${random.pick(places)}${random.pick(subjects)}${random.pick(tails)}`);
  let heat = random.whole(2_000_000, 9_000_000);
  return [...titles].map((title, place) => {
    heat = Math.round(heat * (0.88 + 0.1 * random.next()));
    return asSample({
      id: `${platform}:${date}:${place + 1}`,
      rank: place + 1,
      title,
      heat,
      heat_text: `${(heat / 10_000).toFixed(1)}万`,
      label: place < 3 ? "热" : random.chance(0.15) ? "新" : null,
      category: null,
      url: null,
      first_seen_at: instantInChina(date, `${String(random.whole(0, 23)).padStart(2, "0")}:00:00`),
      peak_rank: random.whole(1, place + 1),
      is_ad: false,
      is_pinned: false,
    });
  });
}
