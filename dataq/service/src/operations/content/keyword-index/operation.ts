import { keywordSamples } from "../../../sample/series.ts";
import { trendReach } from "../../../sources/reach.ts";
import type { OperationParts } from "../../operation.ts";
import { hotRanksCorpus } from "../hot-rank/corpus.ts";
import { tellRankings } from "../hot-rank/coverage.ts";
import { keywordImport } from "./import.ts";
import { sampleKeywords } from "./sample.ts";
import { ImportedKeywords } from "./source.ts";

export const keywordIndex: OperationParts = {
  source: (index, corpus) => new ImportedKeywords(index, corpus),
  sample: sampleKeywords,
  samples: keywordSamples,
  import: keywordImport,
  madeFrom: hotRanksCorpus,
  tellCoverage: tellRankings,
  reach: trendReach(30),
};
