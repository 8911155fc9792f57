import { keyedImport } from "../../../importer/keyed-import.ts";
import { nameKey } from "../../../search/keyed-document.ts";

export const shixinImport = keyedImport(
  "enterprise_shixin_check",
  ({ case_no, name }) => `${case_no}-${name}`,
  ({ name }) => [nameKey(String(name))],
);
