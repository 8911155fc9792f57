import { publishedCompanies } from "../../../sample/companies.ts";
import type { OperationParts } from "../../operation.ts";
import { reportImport } from "./import.ts";
import { sampleReports } from "./sample.ts";
import { ImportedReports } from "./source.ts";

export const annualReport: OperationParts = {
  source: (index, corpus) => new ImportedReports(index, corpus),
  sample: sampleReports,
  samples: publishedCompanies.map(({ taxId }) => ({ tax_id: taxId })),
  import: reportImport,
};
