import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { calendarDate } from "../../values/calendar-date.ts";
import { text } from "../../values/text.ts";
import { word } from "../../words/word.ts";
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
  needs: { en: "the WeChat index", zh: "微信指数数据源" },
  params: z.object({
    keyword: text({ en: "Keyword", zh: "关键词" }),
    date: calendarDate({
      en: "Last day of the trend; default: today in China",
      zh: "趋势的最后一天，留空为北京时间今日",
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
  words: {
    day_change_percent: word("Change from the previous day, in percent", "较前一日变化（%）"),
    channels: word("Index by channel", "各渠道指数"),
    search: word("Search", "搜一搜"),
    official_accounts: word("Official accounts", "公众号"),
    channels_video: word("Channels (video)", "视频号"),
    mini_programs: word("Mini programs", "小程序"),
    moments: word("Moments", "朋友圈"),
    other: word("Other", "其他"),
  },
  kind: "single",
  paged: false,
  priceGroup: "standard",
  cacheS: 21_600,
  example: { keyword: "人工智能" },
});
