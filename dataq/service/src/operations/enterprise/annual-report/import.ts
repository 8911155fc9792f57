import { keyedImport } from "../../../importer/keyed-import.ts";
import { regionKeys, regionOfTaxId } from "../../regions.ts";

export const reportImport = keyedImport(
  "enterprise_annual_report",
  ({ tax_id, report_year }) => `${tax_id}-${report_year}`,
  ({ tax_id }) => [String(tax_id), ...regionKeys(regionOfTaxId(tax_id))],
  ({ published_date }) => published_date,
);
