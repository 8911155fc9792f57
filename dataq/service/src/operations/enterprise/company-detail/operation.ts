import { publishedCompanies } from "../../../sample/companies.ts";
import { tellRegions } from "../../covered.ts";
import type { OperationParts } from "../../operation.ts";
import { registerReach } from "../reach.ts";
import { companyIdentities } from "./identity.ts";
import { companyImport } from "./import.ts";
import { fromRegister } from "./register-row.ts";
import { sampleCompanies } from "./sample.ts";
import { ImportedCompanies } from "./source.ts";

export const companyDetail: OperationParts = {
  source: (index, corpus) => new ImportedCompanies(index, corpus),
  sample: sampleCompanies,
  samples: publishedCompanies.map(({ taxId }) => ({ tax_id: taxId })),
  import: companyImport,
  fromVendor: { prepare: fromRegister },
  identities: companyIdentities,
  tellCoverage: tellRegions,
  reach: registerReach,
  unit: { en: "company", zh: "家企业" },
};
