import { tellRegions } from "../../covered.ts";
import type { OperationParts } from "../../operation.ts";
import { debtorIdentities } from "../debtor-identity.ts";
import { courtsReach } from "../reach.ts";
import { shixinImport } from "./import.ts";
import { listedSamples, sampleShixin } from "./sample.ts";
import { ImportedShixin } from "./source.ts";
import { shixinAnswer } from "./summary.ts";

export const shixinCheck: OperationParts = {
  source: (index, corpus) => new ImportedShixin(index, corpus),
  sample: sampleShixin,
  samples: listedSamples.map(({ name }) => ({ company_name: name })),
  import: shixinImport,
  tellCoverage: tellRegions,
  reach: courtsReach,
  identities: debtorIdentities,
  unit: { en: "listing", zh: "条失信记录" },
  fromVendor: { list: (records, { company_name = "" }) => shixinAnswer(company_name, records) },
};
