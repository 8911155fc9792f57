import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { completeRange, dateBound } from "../../values/calendar-date.ts";
import { query, text } from "../../values/text.ts";
import { word } from "../../words/word.ts";

export const researchPatentSearch = defineOperation({
  name: "research_patent_search",
  domain: "research",
  olderType: "patent_search",
  title: { en: "Patents", zh: "专利" },
  description: {
    en: "Patents by keywords, number or applicant.",
    zh: "按关键词、专利号或申请人检索专利。",
  },
  needs: { en: "a patent database", zh: "专利数据" },
  params: z.object({
    query: query({
      en: "Keywords, an application or publication number, or an applicant. May be empty if there is a filter",
      zh: "关键词、申请号、公开号或申请人；有筛选条件时可为空",
    }),
    applicant: text({ en: "Filter: name of an applicant", zh: "筛选：申请人名称" }).optional(),
    date_from: dateBound(
      {
        en: "Filter: application date on this date or later (2024-03-15, 2024-03 or 2024)",
        zh: "筛选：申请日不早于（2024-03-15、2024-03 或 2024）",
      },
      "first",
    ).optional(),
    date_to: dateBound(
      { en: "Filter: application date on this date or earlier", zh: "筛选：申请日不晚于" },
      "last",
    ).optional(),
  }),
  filters: ["applicant", "date_from", "date_to"],
  complete: completeRange,
  record: record({
    patent_id: z.string(),
    application_no: z.string().nullable(),
    publication_no: z.string().nullable(),
    grant_no: z.string().nullable(),
    title: z.string(),
    abstract: z.string().nullable(),
    type: z.enum(["invention", "utility_model", "design"]),
    applicants: z.array(z.string()),
    inventors: z.array(z.string()),
    agency: z.string().nullable(),
    ipc: z.array(z.string()),
    cpc: z.array(z.string()).nullable(),
    application_date: date.nullable(),
    publication_date: date.nullable(),
    grant_date: date.nullable(),
    priority: z.array(z.string()).nullable(),
    legal_status: z.enum([
      "pending",
      "granted",
      "rejected",
      "withdrawn",
      "expired",
      "lapsed",
      "invalidated",
      "unknown",
    ]),
    legal_status_text: z.string(),
    first_claim: z.string().nullable(),
    citation_count: z.number().int().nullable(),
    highlights: z.array(z.string()),
    score: z.number().nullable(),
  }),
  words: {
    patent_id: word("Patent ID", "专利编号"),
    application_no: word("Application number", "申请号"),
    publication_no: word("Publication number", "公布号"),
    grant_no: word("Grant number", "授权公告号"),
    applicants: word("Applicants", "申请人"),
    inventors: word("Inventors", "发明人"),
    agency: word("Patent agency", "代理机构"),
    ipc: word("IPC classes", "IPC 分类号"),
    cpc: word("CPC classes", "CPC 分类号"),
    application_date: word("Application date", "申请日"),
    grant_date: word("Grant date", "授权公告日"),
    priority: word("Priorities", "优先权"),
    legal_status: word("Legal status", "法律状态"),
    legal_status_text: word("Legal status in Chinese", "法律状态（中文）"),
    first_claim: word("First claim", "首项权利要求"),
  },
  kind: "list",
  paged: true,
  priceGroup: "research",
  cacheS: 86_400,
  example: { query: "电池" },
});
