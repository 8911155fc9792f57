import { SearchSource } from "../../../sources/search-source.ts";
import { numbered, type OperationParts } from "../../operation.ts";
import { judgmentDocument } from "./corpus.ts";
import { judgmentImport } from "./import.ts";
import { sampleJudgment } from "./sample/judgments.ts";
import { cases } from "./source.ts";

/** Enough to try the search with; the full index is `dataq index build --full`. */
const sampleCount = 2_000;

export const legalCases: OperationParts = {
  document: judgmentDocument,
  source: (index, corpus) => new SearchSource(index, corpus, cases),
  sample: numbered(sampleCount, (number) => judgmentDocument(sampleJudgment(number))),
  import: judgmentImport,
};
