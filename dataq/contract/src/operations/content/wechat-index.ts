import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { calendarDate } from "../../values/calendar-date.ts";
import { text } from "../../values/text.ts";
import { completeDay } from "./day.ts";

export const contentWechatIndex = defineOperation({
  name: "content_wechat_index",
  domain: "content",
  olderType: "wechat_index",
  title: { en: "WeChat index", zh: "微信指数" },
  description: {
    en: "Popularity of a keyword on a messaging platform over the 30 days up to a date.",
    zh: "关键词截至某日三十天在微信上的热度。",
  },
  params: z.object({
    keyword: text({ en: "Keyword", zh: "关键词" }),
    date: calendarDate({
      en: "Last day of the trend; today in China if left out",
      zh: "趋势的最后一天，留空为中国时间今日",
    }).optional(),
  }),
  complete: completeDay,
  record: record({
    keyword: z.string(),
    date,
    index: z.number(),
    day_change_percent: z.number().nullable(),
    channels: z
      .object({
        search: z.number(),
        official_accounts: z.number(),
        channels_video: z.number(),
        mini_programs: z.number(),
        moments: z.number(),
        other: z.number(),
      })
      .nullable(),
    trend: z.array(z.object({ date, index: z.number() })),
    disclaimer: z.string(),
  }),
  kind: "single",
  paged: false,
  priceGroup: "standard",
  cacheS: 21_600,
  example: { keyword: "人工智能" },
});
