import { keyedImport } from "../../../importer/keyed-import.ts";
import { nameKey } from "../../../search/keyed-document.ts";

export const zhixingImport = keyedImport(
  "enterprise_zhixing_check",
  ({ case_no, name }) => `${case_no}-${name}`,
  ({ name }) => [nameKey(String(name))],
);
