import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { articleNumber } from "../../values/article-number.ts";
import { completeRange, dateBound } from "../../values/calendar-date.ts";
import { query, text } from "../../values/text.ts";
import { word } from "../../words/word.ts";

export const legalCases = defineOperation({
  name: "legal_cases",
  domain: "legal",
  olderType: "case",
  title: { en: "Judgments", zh: "裁判文书" },
  description: {
    en: "Judgments by keywords, court, judge or legal basis. query supports the fields court:, judge:, basis:, type:, cause: and date:2024..2025, quotes, OR and minus; the other parameters are the same filters as values.",
    zh: "按关键词、法院、法官或法律依据检索裁判文书。query 支持 court:、judge:、basis:、type:、cause:、date:2024..2025、引号、OR 和减号，也可用筛选参数。",
  },
  needs: { en: "a collection of judgments", zh: "裁判文书数据" },
  params: z.object({
    query: query({
      en: "Keywords, fields, a case number, or a law and article. May be empty if there is a filter",
      zh: "关键词、字段、案号，或法律及条号；有筛选条件时可为空",
    }),
    court: text({
      en: "Filter: court, such as 上海市浦东新区人民法院",
      zh: "筛选：法院，如上海市浦东新区人民法院",
    }).optional(),
    judge: text({ en: "Filter: name of a judge", zh: "筛选：审判人员姓名" }).optional(),
    case_type: text({
      en: "Filter: kind of case, document or procedure, such as civil, 刑事, 判决书, 一审",
      zh: "筛选：案件类型、文书类型或审理程序，如 civil、刑事、判决书、一审",
    }).optional(),
    cause: text({
      en: "Filter: cause of action or charge, such as 民间借贷纠纷, 盗窃罪",
      zh: "筛选：案由或罪名，如民间借贷纠纷、盗窃罪",
    }).optional(),
    law: text({
      en: "Filter: law that the judgment cites, such as 民法典",
      zh: "筛选：裁判依据的法律，如民法典",
    }).optional(),
    article: articleNumber({
      en: "Filter: article of that law, such as 577",
      zh: "筛选：该法的条号，如 577",
    }).optional(),
    date_from: dateBound(
      {
        en: "Filter: judgments of this date or later (2024-03-15, 2024-03 or 2024)",
        zh: "筛选：裁判日期不早于（2024-03-15、2024-03 或 2024）",
      },
      "first",
    ).optional(),
    date_to: dateBound(
      { en: "Filter: judgments of this date or earlier", zh: "筛选：裁判日期不晚于" },
      "last",
    ).optional(),
  }),
  filters: ["court", "judge", "case_type", "cause", "law", "article", "date_from", "date_to"],
  complete: (params) => {
    const isArticleAlone = params["article"] !== undefined && params["law"] === undefined;
    return isArticleAlone ? { problem: articleNeedsLaw } : completeRange(params);
  },
  record: record({
    case_id: z.string(),
    case_no: z.string().nullable(),
    title: z.string(),
    court_name: z.string(),
    court_level: z.enum(["supreme", "high", "intermediate", "basic", "special"]).nullable(),
    province: z.string().nullable(),
    city: z.string().nullable(),
    case_type: z.enum(["civil", "criminal", "administrative", "compensation", "enforcement", "other"]),
    case_type_text: z.string(),
    document_type: z.string().nullable(),
    trial_procedure: z.string().nullable(),
    cause_of_action: z.string().nullable(),
    judgment_date: date.nullable(),
    published_date: date.nullable(),
    judges: z.array(z.object({ name: z.string(), role: z.string() })),
    parties: z.array(z.object({ name: z.string(), role: z.string(), type: z.enum(["company", "person"]) })),
    legal_basis: z.array(z.object({ law_name: z.string(), article_no: z.string().nullable() })),
    result: z.string().nullable(),
    summary: z.string().nullable(),
    full_text: z.string(),
    sections: z
      .object({
        facts: z.string().nullable(),
        claims: z.string().nullable(),
        reasoning: z.string().nullable(),
        ruling: z.string().nullable(),
      })
      .nullable(),
    highlights: z.array(z.string()),
    score: z.number().nullable(),
  }),
  words: {
    case_id: word("Judgment ID", "裁判文书编号"),
    case_no: word("Case number", "案号"),
    court_name: word("Court", "法院"),
    court_level: word("Court level", "法院层级"),
    case_type: word("Case type", "案件类型"),
    case_type_text: word("Case type in Chinese", "案件类型（中文）"),
    document_type: word("Document type, such as 判决书", "文书类型，如判决书"),
    trial_procedure: word("Procedure, such as 一审", "审理程序，如一审"),
    cause_of_action: word("Cause of action", "案由"),
    judgment_date: word("Judgment date", "裁判日期"),
    published_date: word("Publication date", "公布日期"),
    judges: word("Judges", "审判人员"),
    "judges.name": word("Judge name", "审判人员姓名"),
    "judges.role": word("Role, such as 审判长", "职务，如审判长"),
    parties: word("Parties", "当事人"),
    "parties.name": word("Party name", "当事人名称"),
    "parties.role": word("Role, such as 原告", "诉讼地位，如原告"),
    "parties.type": word("Company or person", "单位或个人"),
    legal_basis: word("Articles that the judgment cites", "裁判依据的法条"),
    result: word("Outcome", "裁判结果"),
    summary: word("Summary", "摘要"),
    full_text: word("Full text", "全文"),
    sections: word("Sections of the text, where recognised", "正文各部分（可区分时）"),
    facts: word("Facts found by the court", "查明事实"),
    claims: word("Claims and arguments", "诉辩主张"),
    reasoning: word("The court's reasoning", "裁判理由"),
    ruling: word("Ruling", "裁判主文"),
  },
  kind: "list",
  paged: true,
  priceGroup: "standard",
  cacheS: 86_400,
  example: { query: "民间借贷" },
});

const articleNeedsLaw = {
  param: "article",
  code: "incomplete",
  message: "params.article needs a law",
  fix: "send params.law too",
  fixZh: "请同时发送 params.law",
};
