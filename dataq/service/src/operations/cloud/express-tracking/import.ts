import { keyedImport } from "../../../importer/keyed-import.ts";

export const parcelImport = keyedImport(
  "cloud_express_tracking",
  ({ express_no }) => express_no,
  ({ express_no }) => [String(express_no)],
);
