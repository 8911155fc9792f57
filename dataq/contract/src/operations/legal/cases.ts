import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { text } from "../../values/text.ts";

export const legalCases = defineOperation({
  name: "legal_cases",
  domain: "legal",
  olderType: "case",
  title: { en: "Judgments", zh: "裁判文书" },
  description: {
    en: "Judgment documents by words, court, judge or legal basis. Fields: court:, judge:, basis:, type:, date:2024..2025; quotes, OR and minus are understood.",
    zh: "按关键词、法院、法官或法律依据检索裁判文书。支持 court:、judge:、basis:、type:、date:2024..2025、引号、OR 和减号。",
  },
  params: z.object({
    query: text({
      en: "Words, fields, a case number, or a law with article",
      zh: "关键词、字段、案号，或法律及条号",
    }),
  }),
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
  kind: "list",
  paged: true,
  priceGroup: "standard",
  cacheS: 86_400,
  example: { query: "民间借贷" },
});
