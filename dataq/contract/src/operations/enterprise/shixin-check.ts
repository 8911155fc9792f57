import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { text } from "../../values/text.ts";
import { word } from "../../words/word.ts";

export const enterpriseShixinCheck = defineOperation({
  name: "enterprise_shixin_check",
  domain: "enterprise",
  olderType: "shixin_check",
  title: { en: "Court dishonesty check", zh: "失信被执行人查询" },
  description: {
    en: "Whether a company or person is on the courts' list of dishonest debtors. An empty list means that none was found.",
    zh: "查询企业或个人是否被列入失信被执行人名单。未列入也是结果。",
  },
  needs: { en: "the list of dishonest judgment debtors", zh: "失信被执行人名单" },
  params: z.object({
    company_name: text({ en: "Full name of the company or person", zh: "企业全称或个人姓名" }),
  }),
  record: record({
    case_no: z.string(),
    name: z.string(),
    subject_type: z.enum(["company", "person"]),
    id_no_masked: z.string().nullable(),
    legal_representative: z.string().nullable(),
    court: z.string(),
    province: z.string().nullable(),
    basis_no: z.string().nullable(),
    basis_unit: z.string().nullable(),
    obligation: z.string().nullable(),
    performance: z.string(),
    performance_code: z.enum(["none", "partial", "full", "unknown"]),
    performed_part: z.string().nullable(),
    unperformed_part: z.string().nullable(),
    conduct: z.array(z.string()),
    filed_date: date.nullable(),
    published_date: date.nullable(),
    delisted_date: date.nullable(),
  }),
  summary: z.object({
    listed: z.boolean(),
    record_count: z.number().int(),
    matched_by: z.enum(["name", "tax_id"]),
    subject_type: z.enum(["company", "person"]),
  }),
  words: {
    subject_type: word("Company or person", "单位或个人"),
    basis_no: word("Number of the enforced document", "执行依据文号"),
    basis_unit: word("Issuer of the enforced document", "作出执行依据的单位"),
    obligation: word("Obligation under the document", "生效文书确定的义务"),
    performance: word("Performance status", "履行情况"),
    performance_code: word("Performance status code", "履行情况代码"),
    performed_part: word("Performed part", "已履行部分"),
    unperformed_part: word("Unperformed part", "未履行部分"),
    conduct: word("Reason for the listing", "失信行为情形"),
    delisted_date: word("Removal date", "撤下日期"),
  },
  kind: "list",
  paged: false,
  priceGroup: "registry",
  cacheS: 86_400,
  example: { company_name: "杭州示例云图科技有限公司" },
});
