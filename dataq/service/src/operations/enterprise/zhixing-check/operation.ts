import { tellRegions } from "../../covered.ts";
import type { OperationParts } from "../../operation.ts";
import { debtorIdentities } from "../debtor-identity.ts";
import { courtsReach } from "../reach.ts";
import { zhixingImport } from "./import.ts";
import { listedSamples, sampleZhixing } from "./sample.ts";
import { ImportedZhixing } from "./source.ts";
import { zhixingAnswer } from "./summary.ts";

export const zhixingCheck: OperationParts = {
  source: (index, corpus) => new ImportedZhixing(index, corpus),
  sample: sampleZhixing,
  samples: listedSamples.map(({ name }) => ({ company_name: name })),
  import: zhixingImport,
  tellCoverage: tellRegions,
  reach: courtsReach,
  identities: debtorIdentities,
  unit: { en: "enforcement record", zh: "条被执行记录" },
  fromVendor: { list: zhixingAnswer },
};
