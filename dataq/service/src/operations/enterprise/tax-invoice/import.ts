import { keyedImport } from "../../../importer/keyed-import.ts";
import type { Draft } from "../../../importer/target.ts";
import { regionKeys, regionOfInvoice } from "../../regions.ts";

export const invoiceImport = keyedImport(
  "enterprise_tax_invoice",
  ({ invoice_code, invoice_number }) => `${invoice_code ?? ""}-${invoice_number}`,
  (invoice) => [...keysOf(invoice), ...regionKeys(regionOfInvoice(invoice))],
  ({ issue_date }) => issue_date,
);

/** The code is a separate key, so that a code alone is enough if it identifies one invoice. */
function keysOf({ invoice_code, invoice_number }: Draft): string[] {
  const key = `${invoice_code ?? ""}|${invoice_number}`;
  return invoice_code === null ? [key] : [key, `code|${invoice_code}`];
}
