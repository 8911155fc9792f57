import { keywordSamples } from "../../../sample/series.ts";
import type { OperationParts } from "../../operation.ts";
import { keywordImport } from "./import.ts";
import { sampleKeywords } from "./sample.ts";
import { ImportedKeywords } from "./source.ts";

export const keywordIndex: OperationParts = {
  source: (index, corpus) => new ImportedKeywords(index, corpus),
  sample: sampleKeywords,
  samples: keywordSamples,
  import: keywordImport,
};
