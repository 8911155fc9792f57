import { z } from "zod";
import { meaning } from "../../bilingual.ts";
import { defineOperation } from "../../operation.ts";
import { amount, date, record } from "../../provenance.ts";
import { text } from "../../values/text.ts";
import { word } from "../../words/word.ts";

export const enterpriseZhixingCheck = defineOperation({
  name: "enterprise_zhixing_check",
  domain: "enterprise",
  olderType: "zhixing_check",
  title: { en: "Enforcement check", zh: "被执行人查询" },
  description: {
    en: "Enforcement cases against a company or person, with status and amount.",
    zh: "查询企业或个人的被执行案件、状态和执行标的。",
  },
  needs: { en: "the list of enforcement cases", zh: "被执行人名单" },
  params: z.object({
    company_name: text({ en: "Full name of the company or person", zh: "企业全称或个人姓名" }),
  }),
  record: record({
    case_no: z.string(),
    name: z.string(),
    id_no_masked: z.string().nullable(),
    court: z.string(),
    filed_date: date.nullable(),
    amount: amount.nullable().meta(meaning({ en: "Yuan", zh: "元" })),
    unperformed_amount: amount.nullable(),
    status: z.enum(["in_progress", "terminated_this_round", "concluded", "resumed", "removed"]),
    status_text: z.string(),
    ended_date: date.nullable(),
  }),
  summary: z.object({
    record_count: z.number().int(),
    total_amount: amount,
    open_count: z.number().int(),
  }),
  words: {
    unperformed_amount: word("Unpaid amount, in yuan", "未履行金额（元）"),
    ended_date: word("End date", "终结日期"),
  },
  kind: "list",
  paged: false,
  priceGroup: "registry",
  cacheS: 86_400,
  example: { company_name: "杭州示例云图科技有限公司" },
});
