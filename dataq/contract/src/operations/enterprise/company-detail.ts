import { z } from "zod";
import { meaning } from "../../bilingual.ts";
import { defineOperation } from "../../operation.ts";
import { amount, date, record } from "../../provenance.ts";
import { hasOrganisationCode, taxId } from "../../values/tax-id.ts";
import { type Warning, warning } from "../../warnings.ts";
import { word } from "../../words/word.ts";

export const capital = z.object({
  amount: amount.nullable(),
  unit: z.string().nullable(),
  currency: z.string().nullable(),
  text: z.string(),
});

export const companyStatuses = [
  "active",
  "cancelled",
  "revoked",
  "rescinded",
  "moved_out",
  "establishing",
  "liquidating",
  "suspended",
  "other",
] as const;

export const enterpriseCompanyDetail = defineOperation({
  name: "enterprise_company_detail",
  domain: "enterprise",
  olderType: "company_detail",
  title: { en: "Company details", zh: "企业详情" },
  description: {
    en: "Registration details of a company by unified social credit code.",
    zh: "按统一社会信用代码查询企业工商登记信息。",
  },
  needs: { en: "a company register", zh: "企业登记信息数据源" },
  params: z.object({
    tax_id: taxId({ en: "Unified social credit code, 18 characters", zh: "统一社会信用代码，18 位" }),
  }),
  complete: (params) => ({ params, warnings: organisationWarnings(params["tax_id"]) }),
  record: record({
    tax_id: z.string(),
    lei: z.string().nullable(),
    name: z.string(),
    name_en: z.string().nullable(),
    former_names: z.array(z.string()),
    status: z.string(),
    status_code: z.enum(companyStatuses),
    legal_representative: z.string().nullable(),
    registered_capital: capital.nullable(),
    paid_in_capital: capital.nullable(),
    registration_date: date.nullable(),
    approved_date: date.nullable(),
    term_start: date.nullable(),
    term_end: date.nullable().meta(meaning({ en: "Null: no end date", zh: "null 表示长期" })),
    company_type: z.string().nullable(),
    industry: z.string().nullable(),
    registration_authority: z.string().nullable(),
    registration_no: z.string().nullable(),
    organization_code: z.string().nullable(),
    address: z.string().nullable(),
    province: z.string().nullable(),
    city: z.string().nullable(),
    district: z.string().nullable(),
    business_scope: z.string().nullable(),
    cancelled_date: date.nullable(),
    revoked_date: date.nullable(),
    revoked_reason: z.string().nullable(),
    staff_range: z.string().nullable(),
    insured_count: z.number().int().nullable(),
    taxpayer_type: z.string().nullable(),
    listed: z.object({ exchange: z.string(), code: z.string() }).nullable(),
  }),
  words: {
    lei: word("Legal Entity Identifier (LEI)", "全球法人识别编码（LEI）"),
    former_names: word("Former names", "曾用名"),
    status_code: word("Registration status code", "登记状态代码"),
    registered_capital: word("Registered capital", "注册资本"),
    paid_in_capital: word("Paid-in capital", "实缴资本"),
    "registered_capital.amount": word("Amount", "数额"),
    "paid_in_capital.amount": word("Amount", "数额"),
    currency: word("Currency", "币种"),
    text: word("Original text of the register", "登记原文"),
    registration_date: word("Registration date", "成立日期"),
    approved_date: word("Last approval date", "核准日期"),
    term_start: word("Start of the operating term", "营业期限自"),
    company_type: word("Company type", "企业类型"),
    industry: word("Industry", "所属行业"),
    registration_authority: word("Registration authority", "登记机关"),
    registration_no: word("Registration number", "注册号"),
    organization_code: word("Organisation code", "组织机构代码"),
    business_scope: word("Business scope", "经营范围"),
    cancelled_date: word("Cancellation date", "注销日期"),
    revoked_date: word("Revocation date", "吊销日期"),
    revoked_reason: word("Revocation reason", "吊销原因"),
    staff_range: word("Staff size range", "人员规模"),
    insured_count: word("Insured employees", "参保人数"),
    taxpayer_type: word("Taxpayer type", "纳税人资质"),
    listed: word("Stock exchange listing", "上市信息"),
    exchange: word("Exchange", "交易所"),
    "listed.code": word("Stock code", "股票代码"),
  },
  kind: "single",
  paged: false,
  priceGroup: "registry",
  cacheS: 86_400,
  example: { tax_id: "91330106MA0000007Q" },
});

/** Warns if the organisation code inside a credit code has a wrong check character. Some real codes do. */
export function organisationWarnings(code: string | undefined): Warning[] {
  if (code === undefined || code.length !== 18 || hasOrganisationCode(code)) return [];
  return [warning("organisation_code")];
}
