import { keyedDocument, nameKey } from "../../search/corpora/keyed.ts";
import { ownForm } from "../own-form.ts";
import type { Draft, Target } from "../target.ts";

/** Operations whose records are only looked up: our own form, and the keys that a record is found by. */
export const keyedTargets: readonly Target[] = [
  keyed(
    "enterprise_company_detail",
    (record) => record["tax_id"],
    ({ tax_id }) => [String(tax_id)],
  ),
  keyed(
    "enterprise_annual_report",
    ({ tax_id, report_year }) => `${tax_id}-${report_year}`,
    ({ tax_id }) => [String(tax_id)],
  ),
  keyed(
    "enterprise_tax_invoice",
    ({ invoice_code, invoice_number }) => `${invoice_code ?? ""}-${invoice_number}`,
    invoiceKeys,
  ),
  keyed(
    "enterprise_shixin_check",
    ({ case_no, name }) => `${case_no}-${name}`,
    ({ name }) => [nameKey(String(name))],
  ),
  keyed(
    "enterprise_zhixing_check",
    ({ case_no, name }) => `${case_no}-${name}`,
    ({ name }) => [nameKey(String(name))],
  ),
  keyed(
    "content_keyword_index",
    ({ keyword, date }) => `${keyword}|${date}`,
    ({ keyword, date }) => [`${keyword}|${date}`],
  ),
  keyed(
    "content_wechat_index",
    ({ keyword, date }) => `${keyword}|${date}`,
    ({ keyword, date }) => [`${keyword}|${date}`],
  ),
  keyed(
    "cloud_express_tracking",
    ({ express_no }) => express_no,
    ({ express_no }) => [String(express_no)],
  ),
];

function keyed(
  operation: string,
  idOf: (record: Record<string, unknown>) => unknown,
  keysOf: (record: Draft) => string[],
): Target {
  return {
    name: operation,
    corpus: operation,
    map: ownForm(operation, idOf),
    document: (record) => keyedDocument(record, keysOf(record)),
  };
}

function invoiceKeys({ invoice_code, invoice_number }: Draft): string[] {
  const key = `${invoice_code ?? ""}|${invoice_number}`;
  return invoice_code === null ? [key] : [key, `code|${invoice_code}`];
}
