import { keyedImport } from "../../../importer/keyed-import.ts";
import { nameKey } from "../../../search/keyed-document.ts";
import { regionKeys, regionOfName } from "../../regions.ts";

export const zhixingImport = keyedImport(
  "enterprise_zhixing_check",
  ({ case_no, name }) => `${case_no}-${name}`,
  ({ name, court }) => [nameKey(String(name)), ...regionKeys(regionOfName(court))],
  ({ filed_date }) => filed_date,
);
