import { z } from "zod";
import { meaning } from "../../bilingual.ts";
import { defineOperation } from "../../operation.ts";
import { amount, date, record } from "../../provenance.ts";
import { calendarDate } from "../../values/calendar-date.ts";
import {
  amountText,
  checkCode,
  invoiceCode,
  invoiceNumber,
  problemOfInvoice,
  splitInvoice,
} from "../../values/invoice.ts";
import { word } from "../../words/word.ts";

const party = z.object({
  name: z.string().nullable(),
  tax_no: z.string().nullable(),
  address_phone: z.string().nullable(),
  bank: z.string().nullable(),
});

export const enterpriseTaxInvoice = defineOperation({
  name: "enterprise_tax_invoice",
  domain: "enterprise",
  olderType: "tax_invoice",
  title: { en: "Tax invoice check", zh: "发票查验" },
  description: {
    en: "Authenticity check of a tax invoice by code and number. Invoices from today or older than 5 years cannot be checked.",
    zh: "按发票代码和号码查验真伪。当日发票尚不可查，五年以前的不再可查。",
  },
  needs: { en: "an invoice verification service", zh: "发票查验数据源" },
  params: z.object({
    invoice_code: invoiceCode({
      en: "Invoice code, digital invoice number, or code and number together",
      zh: "发票代码、数电发票号码，或代码与号码连写",
    }),
    invoice_number: invoiceNumber({
      en: "Invoice number, 8 or 20 digits",
      zh: "发票号码，8 位或 20 位",
    }).optional(),
    issue_date: calendarDate({ en: "Date of issue", zh: "开票日期" }).optional(),
    amount: amountText({
      en: "Amount in yuan: before tax (special, vehicle) or including tax (digital)",
      zh: "金额（元）：专用、机动车发票为不含税，数电发票为价税合计",
    }).optional(),
    check_code: checkCode({
      en: "Last 6 digits of the check code (ordinary, electronic, roll)",
      zh: "校验码后 6 位（普通、电子、卷式发票）",
    }).optional(),
  }),
  complete: ({ invoice_code: joined = "", ...rest }) => {
    const name = splitInvoice(joined);
    const problem = problemOfInvoice(name, rest["invoice_number"]);
    if (problem !== undefined) return { problem: { ...problem, param: "invoice_number" } };
    const number = name.number ?? rest["invoice_number"];
    return {
      params: {
        ...rest,
        invoice_code: name.code ?? joined,
        ...(number !== undefined && { invoice_number: number }),
      },
    };
  },
  record: record({
    invoice_code: z.string().nullable(),
    invoice_number: z.string().nullable(),
    result: z.enum([
      "match",
      "mismatch",
      "not_found",
      "insufficient_elements",
      "not_yet_verifiable",
      "expired",
      "too_many_checks",
    ]),
    authentic: z.boolean().nullable(),
    missing: z
      .array(z.string())
      .meta(
        meaning({ en: "Other parameters that this invoice type requires", zh: "该类发票还需提供的参数" }),
      ),
    invoice_type: z
      .string()
      .nullable()
      .meta(
        meaning({
          en: "01 special, 04 ordinary, 10 electronic, 32 digital ordinary, …",
          zh: "01 专用，04 普通，10 电子，32 数电普通……",
        }),
      ),
    invoice_type_text: z.string().nullable(),
    status: z.enum(["normal", "void", "red", "red_flushed", "partly_red_flushed"]).nullable(),
    status_text: z.string().nullable(),
    issue_date: date.nullable(),
    check_code: z.string().nullable(),
    machine_no: z.string().nullable(),
    seller: party.nullable(),
    buyer: party.nullable(),
    amount: amount.nullable(),
    tax: amount.nullable(),
    total: amount.nullable(),
    total_text: z.string().nullable(),
    items: z.array(
      z.object({
        name: z.string(),
        spec: z.string().nullable(),
        unit: z.string().nullable(),
        quantity: amount.nullable(),
        unit_price: amount.nullable(),
        amount: amount.nullable(),
        tax_rate: z.string().nullable(),
        tax: amount.nullable(),
      }),
    ),
    remark: z.string().nullable(),
    check_count: z.number().int().nullable(),
    checked_at: z.string(),
  }),
  words: {
    invoice_code: word("Invoice code", "发票代码"),
    invoice_number: word("Invoice number", "发票号码"),
    result: word("Check result", "查验结果"),
    authentic: word("Whether the invoice matches the tax records", "是否与税务记录一致"),
    invoice_type_text: word("Invoice type", "发票类型说明"),
    issue_date: word("Issue date", "开票日期"),
    check_code: word("Check code", "校验码"),
    machine_no: word("Tax machine number", "机器编号"),
    seller: word("Seller", "销售方"),
    buyer: word("Buyer", "购买方"),
    tax_no: word("Taxpayer ID", "纳税人识别号"),
    address_phone: word("Address and phone number", "地址、电话"),
    bank: word("Bank and account number", "开户行及账号"),
    tax: word("Tax in yuan", "税额（元）"),
    total: word("Total including tax, in yuan", "价税合计（元）"),
    total_text: word("Total in Chinese capitals", "价税合计（大写）"),
    items: word("Invoice items", "发票明细"),
    "items.name": word("Goods or service", "货物或服务名称"),
    spec: word("Specification", "规格型号"),
    quantity: word("Quantity", "数量"),
    unit_price: word("Unit price", "单价"),
    tax_rate: word("Tax rate", "税率"),
    remark: word("Remark", "备注"),
    check_count: word("Number of checks", "查验次数"),
    checked_at: word("Check time", "查验时间"),
  },
  kind: "single",
  paged: false,
  priceGroup: "registry",
  cacheS: 86_400,
  example: { invoice_code: "033002100111", invoice_number: "10000001" },
});
