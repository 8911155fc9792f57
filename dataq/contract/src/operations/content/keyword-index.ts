import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { calendarDate } from "../../values/calendar-date.ts";
import { text } from "../../values/text.ts";
import { word } from "../../words/word.ts";
import { completeDay } from "./day.ts";

const percent = z.number().nullable();

export const contentKeywordIndex = defineOperation({
  name: "content_keyword_index",
  domain: "content",
  olderType: "keyword_index",
  title: { en: "Keyword index", zh: "关键词指数" },
  description: {
    en: "Search volume trend of a keyword over the 30 days up to a date.",
    zh: "关键词截至某日三十天的搜索热度趋势。",
  },
  needs: { en: "a search index or archives of rankings", zh: "搜索指数或热榜存档" },
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
    engine: z.string(),
    granularity: z.literal("day"),
    index: z.number(),
    pc: z.number().nullable(),
    mobile: z.number().nullable(),
    average_30d: z.number(),
    yoy_percent: percent,
    mom_percent: percent,
    trend: z.array(
      z.object({ date, index: z.number(), pc: z.number().nullable(), mobile: z.number().nullable() }),
    ),
    related: z.array(z.object({ keyword: z.string(), index: z.number() })).nullable(),
    estimated: z.boolean(),
    disclaimer: z.string(),
  }),
  words: {
    engine: word("Search engine", "搜索引擎"),
    granularity: word("Period of one value", "数据粒度"),
    pc: word("Desktop index", "电脑端指数"),
    mobile: word("Mobile index", "移动端指数"),
    average_30d: word("30-day average", "30 日均值"),
    yoy_percent: word("Year-over-year change, in percent", "同比（%）"),
    mom_percent: word("Change from the previous period, in percent", "环比（%）"),
    related: word("Related keywords", "相关关键词"),
    estimated: word("Whether the values are estimates", "是否为估算值"),
  },
  kind: "single",
  paged: false,
  priceGroup: "standard",
  cacheS: 21_600,
  example: { keyword: "人工智能" },
});
