import type { Params } from "@dataq/contract";
import { parcel } from "../../../sample/parcels.ts";
import { single } from "../../answers.ts";
import type { Answer, Source } from "../../source.ts";
import { cacheOf, carrierOf, demandPhoneTail } from "./carrier.ts";

export const sampleParcels: Source = {
  version: async () => "sample-1",
  async run(params: Params): Promise<Answer> {
    const found = carrierOf(params);
    if (found === undefined) return single(undefined);
    demandPhoneTail(found.carrier, params);
    const { source, ...fields } = parcel(params["express_no"] ?? "", found.carrier);
    const candidates = found.candidates.length > 1 ? found.candidates : null;
    return { ...single({ ...fields, carrier_candidates: candidates, source }), cacheS: cacheOf(fields) };
  },
};
