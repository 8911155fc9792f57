import type { OperationParts } from "../../operation.ts";
import { reportImport } from "./import.ts";
import { sampleReports } from "./sample.ts";
import { ImportedReports } from "./source.ts";

export const annualReport: OperationParts = {
  source: (index, corpus) => new ImportedReports(index, corpus),
  sample: sampleReports,
  import: reportImport,
};
