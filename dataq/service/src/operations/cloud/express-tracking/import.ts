import { keyedImport } from "../../../importer/keyed-import.ts";
import { carrierPrefix } from "./coverage.ts";
import { parcelKey } from "./identity.ts";

export const parcelImport = keyedImport(
  "cloud_express_tracking",
  ({ express_no }) => express_no,
  ({ express_no, carrier_code }) => [
    String(express_no),
    parcelKey(express_no, carrier_code),
    carrierPrefix + carrier_code,
  ],
  ({ last_event_at }) => (last_event_at as string | null)?.slice(0, 10),
);
