import { type Words, word } from "./word.ts";

/** Companies, their reports, invoices and debts. */
export const enterprise: Words = {
  tax_id: word("Unified social credit code", "统一社会信用代码"),
  name: word("Name", "名称"),
  status: word("Registration status", "登记状态"),
  legal_representative: word("Legal representative", "法定代表人"),
  unit: word("Unit", "单位"),
  published_date: word("Publication date", "公示日期"),
  amount: word("Amount in yuan", "金额（元）"),
  id_no_masked: word("ID number, masked", "证件号码（已脱敏）"),
  court: word("Enforcement court", "执行法院"),
  case_no: word("Case number", "案号"),
  filed_date: word("Filing date", "立案日期"),
};
