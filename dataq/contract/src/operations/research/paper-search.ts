import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { completeRange, dateBound } from "../../values/calendar-date.ts";
import { query, text } from "../../values/text.ts";
import { year } from "../../values/year.ts";
import { word } from "../../words/word.ts";

export const researchPaperSearch = defineOperation({
  name: "research_paper_search",
  domain: "research",
  olderType: "paper_search",
  title: { en: "Papers", zh: "论文" },
  description: {
    en: "Papers by words in the title, abstract or keywords, by author or by DOI.",
    zh: "按标题、摘要、关键词、作者或 DOI 检索论文。",
  },
  needs: { en: "a bibliography of papers", zh: "论文题录数据" },
  params: z.object({
    query: query({
      en: "Keywords, an author, or a DOI. May be empty if there is a filter",
      zh: "关键词、作者或 DOI；有筛选条件时可为空",
    }),
    author: text({ en: "Filter: name of an author", zh: "筛选：作者姓名" }).optional(),
    year: year({ en: "Filter: year of publication", zh: "筛选：发表年份" }).optional(),
    date_from: dateBound(
      {
        en: "Filter: published on this date or later (2024-03-15, 2024-03 or 2024)",
        zh: "筛选：发表日期不早于（2024-03-15、2024-03 或 2024）",
      },
      "first",
    ).optional(),
    date_to: dateBound(
      { en: "Filter: published on this date or earlier", zh: "筛选：发表日期不晚于" },
      "last",
    ).optional(),
  }),
  filters: ["author", "year", "date_from", "date_to"],
  complete: completeRange,
  record: record({
    paper_id: z.string(),
    doi: z.string().nullable(),
    title: z.string(),
    title_en: z.string().nullable(),
    authors: z.array(
      z.object({
        name: z.string(),
        scholar_id: z.string().nullable(),
        affiliation: z.string().nullable(),
        orcid: z.string().nullable(),
        corresponding: z.boolean(),
      }),
    ),
    abstract: z.string().nullable(),
    keywords: z.array(z.string()),
    publication_date: date.nullable(),
    year: z.number().int().nullable(),
    journal: z
      .object({
        name: z.string(),
        issn: z.string().nullable(),
        volume: z.string().nullable(),
        issue: z.string().nullable(),
        pages: z.string().nullable(),
      })
      .nullable(),
    citation_count: z.number().int().nullable(),
    references_count: z.number().int().nullable(),
    type: z.string(),
    language: z.string().nullable(),
    indexed_in: z.array(z.string()),
    open_access: z.object({ is_oa: z.boolean(), url: z.string().nullable() }).nullable(),
    retracted: z.boolean(),
    highlights: z.array(z.string()),
    score: z.number().nullable(),
  }),
  words: {
    doi: word("DOI", "DOI"),
    authors: word("Authors", "作者"),
    "authors.name": word("Author name", "作者姓名"),
    affiliation: word("Institution", "所属机构"),
    corresponding: word("Whether this is the corresponding author", "是否通讯作者"),
    keywords: word("Keywords", "关键词"),
    journal: word("Journal", "期刊"),
    "journal.name": word("Journal name", "刊名"),
    volume: word("Volume", "卷"),
    issue: word("Issue", "期"),
    pages: word("Pages", "页码"),
    references_count: word("References", "参考文献数"),
    open_access: word("Open access", "开放获取"),
    "open_access.url": word("URL of the free full text", "免费全文地址"),
    retracted: word("Whether it was retracted", "是否撤稿"),
  },
  kind: "list",
  paged: true,
  priceGroup: "research",
  cacheS: 86_400,
  example: { query: "神经网络" },
});
