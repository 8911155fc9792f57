import { keyedImport } from "../../../importer/keyed-import.ts";
import type { RowTarget } from "../../../importer/target.ts";
import { regionKeys, regionOfTaxId } from "../../regions.ts";
import { leiKeys } from "./identity.ts";
import { fromRegister } from "./register-row.ts";

const target = keyedImport(
  "enterprise_company_detail",
  (record) => record["tax_id"],
  ({ tax_id, lei }) => [String(tax_id), ...leiKeys(lei), ...regionKeys(regionOfTaxId(tax_id))],
);

/**
 * Imports companies in our own form, or from the table of a register with Chinese headings. Fields that can
 * be derived may be missing.
 */
export const companyImport: RowTarget = {
  ...target,
  map: (fields) => target.map(fromRegister(fields)),
};
