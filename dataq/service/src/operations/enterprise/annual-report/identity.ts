import { readTaxId } from "@dataq/contract";
import { keyTerm } from "../../../search/keyed-document.ts";
import type { Published } from "../../../sources/joining.ts";

/** A report is known by the company's credit code and its year: reports of two years are two things. */
export function reportIdentities({ tax_id, report_year }: Published): string[] {
  const read = typeof tax_id === "string" ? readTaxId(tax_id) : undefined;
  if (read === undefined || !("value" in read) || typeof report_year !== "number") return [];
  return [keyTerm(reportKey(read.value, report_year))];
}

export function reportKey(taxId: string, year: unknown): string {
  return `${taxId}|${year}`;
}
