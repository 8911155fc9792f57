import { SearchSource } from "../../../sources/search-source.ts";
import { numbered, type OperationParts } from "../../operation.ts";
import { judgmentDocument, legalIndexFill } from "./corpus.ts";
import { tellCases } from "./coverage.ts";
import { judgmentImport } from "./import.ts";
import { caseReach } from "./reach.ts";
import { sampleJudgment } from "./sample/judgments.ts";
import { cases } from "./source.ts";

/** Enough samples to try the search. `dataq index build --full` builds the full index. */
const sampleCount = 2_000;

export const legalCases: OperationParts = {
  document: judgmentDocument,
  source: (index, corpus, meaning) =>
    new SearchSource(index, corpus, cases, { generated: legalIndexFill.dataset, meaning }),
  sample: {
    ...numbered(sampleCount, (number) => judgmentDocument(sampleJudgment(number))),
    isOpen: true,
  },
  samples: ["民间借贷", "离婚", "借款 利息", "劳动争议"].map((query) => ({ query })),
  import: judgmentImport,
  unit: { en: "judgment", zh: "篇裁判文书" },
  tellCoverage: tellCases,
  reach: caseReach,
};
