import { keyedImport } from "../../../importer/keyed-import.ts";
import { regionKeys, regionOfTaxId } from "../../regions.ts";
import { reportKey } from "./identity.ts";

export const reportImport = keyedImport(
  "enterprise_annual_report",
  ({ tax_id, report_year }) => `${tax_id}-${report_year}`,
  ({ tax_id, report_year }) => [
    String(tax_id),
    reportKey(String(tax_id), report_year),
    ...regionKeys(regionOfTaxId(tax_id)),
  ],
  ({ published_date }) => published_date,
);
