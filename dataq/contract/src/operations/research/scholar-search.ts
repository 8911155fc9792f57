import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { record } from "../../provenance.ts";
import { text } from "../../values/text.ts";
import { word } from "../../words/word.ts";

export const researchScholarSearch = defineOperation({
  name: "research_scholar_search",
  domain: "research",
  olderType: "scholar_search",
  title: { en: "Scholars", zh: "学者" },
  description: { en: "Researchers by name, with their publications.", zh: "按姓名检索学者及其论文。" },
  needs: { en: "a directory of researchers", zh: "学者数据" },
  params: z.object({ name: text({ en: "Name of the researcher", zh: "学者姓名" }) }),
  record: record({
    scholar_id: z.string(),
    name: z.string(),
    name_en: z.string().nullable(),
    affiliations: z.array(z.object({ name: z.string(), current: z.boolean() })),
    titles: z.array(z.string()),
    research_areas: z.array(z.string()),
    works_count: z.number().int(),
    citation_count: z.number().int().nullable(),
    h_index: z.number().int().nullable(),
    orcid: z.string().nullable(),
    publications: z.array(
      z.object({
        paper_id: z.string(),
        title: z.string(),
        year: z.number().int().nullable(),
        venue: z.string().nullable(),
        citation_count: z.number().int().nullable(),
      }),
    ),
    publications_total: z.number().int(),
    coauthors: z.array(z.string()).nullable(),
    homepage: z.string().nullable(),
    highlights: z.array(z.string()),
    score: z.number().nullable(),
  }),
  words: {
    affiliations: word("Institutions", "所属机构"),
    "affiliations.name": word("Institution name", "机构名称"),
    current: word("Whether it is current", "是否现任"),
    titles: word("Academic titles", "职称"),
    research_areas: word("Research fields", "研究方向"),
    h_index: word("h-index", "h 指数"),
    publications: word("Papers, most cited first", "论文，按被引次数排序"),
    venue: word("Publication venue", "发表于"),
    publications_total: word("Total number of papers", "论文总数"),
    coauthors: word("Co-authors", "合作者"),
  },
  kind: "list",
  paged: true,
  priceGroup: "research",
  cacheS: 86_400,
  example: { name: "陈明" },
});
