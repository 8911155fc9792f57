import { keyedImport } from "../../../importer/keyed-import.ts";
import { nameKey } from "../../../search/keyed-document.ts";
import { regionKeys, regionOfName } from "../../regions.ts";

export const shixinImport = keyedImport(
  "enterprise_shixin_check",
  ({ case_no, name }) => `${case_no}-${name}`,
  ({ name, province, court }) => [
    nameKey(String(name)),
    ...regionKeys(regionOfName(province) ?? regionOfName(court)),
  ],
  ({ published_date, filed_date }) => published_date ?? filed_date,
);
