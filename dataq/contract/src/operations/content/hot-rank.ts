import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { calendarDate } from "../../values/calendar-date.ts";
import { platform, platforms } from "../../values/platform.ts";
import { word } from "../../words/word.ts";
import { completeDay } from "./day.ts";

export const contentHotRank = defineOperation({
  name: "content_hot_rank",
  domain: "content",
  olderType: "hot_rank",
  title: { en: "Trending topics", zh: "热榜" },
  description: {
    en: `Trending topics of a platform on a day: ${platforms.join(", ")}, and every platform with an imported archive.`,
    zh: `某平台某日的热门话题榜：${platforms.join("、")}，以及已导入存档的平台。`,
  },
  needs: { en: "archives of rankings", zh: "热榜存档" },
  params: z.object({
    platform: platform({
      en: `Platform: ${platforms.join(", ")}, or one with an imported archive`,
      zh: `平台：${platforms.join("、")}，或已导入存档的平台`,
    }),
    date: calendarDate({
      en: "Date of the ranking; default: today in China",
      zh: "榜单日期，留空为北京时间今日",
    }).optional(),
  }),
  complete: completeDay,
  record: record({
    rank: z.number().int(),
    title: z.string(),
    heat: z.number().nullable(),
    heat_text: z.string().nullable(),
    label: z.string().nullable(),
    category: z.string().nullable(),
    url: z.string().nullable(),
    first_seen_at: z.string().nullable(),
    peak_rank: z.number().int().nullable(),
    is_ad: z.boolean(),
    is_pinned: z.boolean(),
  }),
  summary: z.object({
    platform: z.string(),
    date,
    captured_at: z.string().nullable(),
    snapshot_kind: z.enum(["latest", "end_of_day"]),
  }),
  words: {
    rank: word("Rank", "排名"),
    heat: word("Popularity score", "热度值"),
    heat_text: word("Popularity as shown by the platform", "热度原文"),
    label: word("Label, such as 热", "标签，如热"),
    category: word("Category", "分类"),
    first_seen_at: word("First time on the list", "首次上榜时间"),
    peak_rank: word("Highest rank", "最高排名"),
    is_ad: word("Whether it is an advertisement", "是否广告"),
    is_pinned: word("Whether it is pinned", "是否置顶"),
  },
  kind: "list",
  paged: false,
  priceGroup: "standard",
  cacheS: 600,
  example: { platform: "weibo" },
});
