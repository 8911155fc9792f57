import { publishedCompanies } from "../../../sample/companies.ts";
import { tellRegions } from "../../covered.ts";
import type { OperationParts } from "../../operation.ts";
import { registerReach } from "../reach.ts";
import { fromReport } from "./from-vendor.ts";
import { reportIdentities } from "./identity.ts";
import { reportImport } from "./import.ts";
import { sampleReports } from "./sample.ts";
import { ImportedReports } from "./source.ts";

export const annualReport: OperationParts = {
  source: (index, corpus) => new ImportedReports(index, corpus),
  sample: sampleReports,
  samples: publishedCompanies.map(({ taxId }) => ({ tax_id: taxId })),
  import: reportImport,
  fromVendor: { prepare: fromReport },
  identities: reportIdentities,
  tellCoverage: tellRegions,
  reach: registerReach,
  unit: { en: "annual report", zh: "份年报" },
};
