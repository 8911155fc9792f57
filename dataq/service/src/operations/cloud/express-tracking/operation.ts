import type { OperationParts } from "../../operation.ts";
import { cacheOf, phoneTailNeeded } from "./carrier.ts";
import { parcelImport } from "./import.ts";
import { parcelSamples, sampleParcels } from "./sample.ts";
import { ImportedParcels } from "./source.ts";

export const expressTracking: OperationParts = {
  source: (index, corpus) => new ImportedParcels(index, corpus),
  sample: sampleParcels,
  samples: parcelSamples,
  import: parcelImport,
  fromVendor: {
    cacheS: (record) => cacheOf(record as { signed: boolean }),
    verificationNeeded: () => phoneTailNeeded("The carrier"),
  },
};
