import { keyedImport } from "../../../importer/keyed-import.ts";

export const reportImport = keyedImport(
  "enterprise_annual_report",
  ({ tax_id, report_year }) => `${tax_id}-${report_year}`,
  ({ tax_id }) => [String(tax_id)],
);
