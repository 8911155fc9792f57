import { keyedImport } from "../../../importer/keyed-import.ts";
import { nameKey } from "../../../search/keyed-document.ts";
import { regionKeys, regionOfName } from "../../regions.ts";
import { debtorKeys } from "../debtor-identity.ts";

export const zhixingImport = keyedImport(
  "enterprise_zhixing_check",
  ({ case_no, name }) => `${case_no}-${name}`,
  ({ case_no, name, court }) => [
    nameKey(String(name)),
    ...debtorKeys(case_no, name),
    ...regionKeys(regionOfName(court)),
  ],
  ({ filed_date }) => filed_date,
);
