import type { OperationParts } from "../../operation.ts";
import { cacheOf, phoneTailNeeded } from "./carrier.ts";
import { carrierReach, tellCarriers } from "./coverage.ts";
import { parcelIdentities } from "./identity.ts";
import { parcelImport } from "./import.ts";
import { parcelSamples, sampleParcels } from "./sample.ts";
import { ImportedParcels } from "./source.ts";

export const expressTracking: OperationParts = {
  source: (index, corpus) => new ImportedParcels(index, corpus),
  sample: sampleParcels,
  samples: parcelSamples,
  import: parcelImport,
  tellCoverage: tellCarriers,
  reach: carrierReach,
  identities: parcelIdentities,
  unit: { en: "parcel", zh: "个包裹" },
  fromVendor: {
    cacheS: (record) => cacheOf(record as { signed: boolean }),
    verificationNeeded: () => phoneTailNeeded("The carrier"),
  },
};
