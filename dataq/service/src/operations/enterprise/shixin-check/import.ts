import { keyedImport } from "../../../importer/keyed-import.ts";
import { nameKey } from "../../../search/keyed-document.ts";
import { regionKeys, regionOfName } from "../../regions.ts";
import { debtorKeys } from "../debtor-identity.ts";

export const shixinImport = keyedImport(
  "enterprise_shixin_check",
  ({ case_no, name }) => `${case_no}-${name}`,
  ({ case_no, name, province, court }) => [
    nameKey(String(name)),
    ...debtorKeys(case_no, name),
    ...regionKeys(regionOfName(province) ?? regionOfName(court)),
  ],
  ({ published_date, filed_date }) => published_date ?? filed_date,
);
