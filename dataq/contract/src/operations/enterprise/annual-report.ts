import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { amount, date, record } from "../../provenance.ts";
import { taxId } from "../../values/tax-id.ts";
import { organisationWarnings } from "./company-detail.ts";

const figure = z.object({ amount: amount.nullable(), public: z.boolean() });

export const enterpriseAnnualReport = defineOperation({
  name: "enterprise_annual_report",
  domain: "enterprise",
  olderType: "annual_report",
  title: { en: "Annual report", zh: "企业年报" },
  description: {
    en: "Latest annual report of a company, with financial highlights and employee count where they are public.",
    zh: "企业最新年度报告，包括已公示的财务摘要和从业人数。",
  },
  params: z.object({
    tax_id: taxId({ en: "Unified social credit code, 18 characters", zh: "统一社会信用代码，18 位" }),
  }),
  complete: (params) => ({ params, warnings: organisationWarnings(params["tax_id"]) }),
  record: record({
    tax_id: z.string(),
    name: z.string(),
    report_year: z.number().int(),
    published_date: date.nullable(),
    status: z.string().nullable(),
    address: z.string().nullable(),
    phone: z.string().nullable(),
    email: z.string().nullable(),
    employee_count: z.number().int().nullable(),
    employee_count_public: z.boolean(),
    insured: z
      .object({
        pension: z.number().int().nullable(),
        unemployment: z.number().int().nullable(),
        medical: z.number().int().nullable(),
        injury: z.number().int().nullable(),
        maternity: z.number().int().nullable(),
      })
      .nullable(),
    financials: z.object({
      total_assets: figure,
      total_liabilities: figure,
      owners_equity: figure,
      revenue: figure,
      main_revenue: figure,
      total_profit: figure,
      net_profit: figure,
      tax_paid: figure,
    }),
    shareholders: z.array(
      z.object({
        name: z.string(),
        subscribed: amount.nullable(),
        subscribed_date: date.nullable(),
        paid_in: amount.nullable(),
        paid_in_date: date.nullable(),
        method: z.string().nullable(),
      }),
    ),
    investments: z.array(z.object({ name: z.string(), tax_id: z.string().nullable() })),
    guarantees: z.array(
      z.object({
        creditor: z.string(),
        debtor: z.string(),
        amount: amount.nullable(),
        kind: z.string().nullable(),
      }),
    ),
    websites: z.array(z.object({ name: z.string().nullable(), url: z.string() })),
    equity_changes: z.array(
      z.object({
        shareholder: z.string(),
        before_percent: amount.nullable(),
        after_percent: amount.nullable(),
        date: date.nullable(),
      }),
    ),
    has_guarantee: z.boolean().nullable(),
    years_available: z.array(z.number().int()),
  }),
  kind: "single",
  paged: false,
  priceGroup: "report",
  cacheS: 604_800,
  example: { tax_id: "91330106MA0000007Q" },
});
