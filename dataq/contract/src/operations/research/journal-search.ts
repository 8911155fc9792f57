import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { record } from "../../provenance.ts";
import { text } from "../../values/text.ts";
import { word } from "../../words/word.ts";

export const researchJournalSearch = defineOperation({
  name: "research_journal_search",
  domain: "research",
  olderType: "journal_search",
  title: { en: "Journals", zh: "期刊" },
  description: { en: "Journals by name, ISSN or CN number.", zh: "按刊名、ISSN 或 CN 号检索期刊。" },
  params: z.object({ query: text({ en: "Name, ISSN or CN number", zh: "刊名、ISSN 或 CN 号" }) }),
  record: record({
    journal_id: z.string(),
    name: z.string(),
    name_en: z.string().nullable(),
    issn: z.string().nullable(),
    eissn: z.string().nullable(),
    cn_no: z.string().nullable(),
    sponsor: z.string().nullable(),
    publisher: z.string().nullable(),
    frequency: z.string().nullable(),
    founded_year: z.number().int().nullable(),
    language: z.string().nullable(),
    subjects: z.array(z.string()),
    impact_factor: z.object({ value: z.number(), year: z.number().int(), kind: z.string() }).nullable(),
    indexed_in: z.array(z.string()),
    is_oa: z.boolean().nullable(),
    homepage: z.string().nullable(),
    works_count: z.number().int().nullable(),
    citation_count: z.number().int().nullable(),
    highlights: z.array(z.string()),
    score: z.number().nullable(),
  }),
  words: {
    journal_id: word("Identifier of the journal", "期刊编号"),
    eissn: word("ISSN of the electronic edition", "电子版 ISSN"),
    cn_no: word("CN number", "CN 号"),
    sponsor: word("Sponsor", "主办单位"),
    publisher: word("Publisher", "出版单位"),
    frequency: word("How often it appears", "刊期"),
    founded_year: word("Year of foundation", "创刊年份"),
    subjects: word("Subjects", "学科"),
    impact_factor: word("Impact factor", "影响因子"),
    value: word("Value", "数值"),
    "impact_factor.kind": word("Whose factor it is", "影响因子类型"),
  },
  kind: "list",
  paged: true,
  priceGroup: "research",
  cacheS: 86_400,
  example: { query: "学报" },
});
