import { keyedImport } from "../../../importer/keyed-import.ts";

export const companyImport = keyedImport(
  "enterprise_company_detail",
  (record) => record["tax_id"],
  ({ tax_id }) => [String(tax_id)],
);
