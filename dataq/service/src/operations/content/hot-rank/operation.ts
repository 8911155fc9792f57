import { reachOf } from "../../../sources/reach.ts";
import type { OperationParts } from "../../operation.ts";
import { rankingDocument } from "./corpus.ts";
import { tellRankings } from "./coverage.ts";
import { rankImport } from "./import.ts";
import { rankSamples, sampleRanks } from "./sample.ts";
import { ImportedRanks } from "./source.ts";

export const hotRank: OperationParts = {
  document: rankingDocument,
  source: (index, corpus) => new ImportedRanks(index, corpus),
  sample: sampleRanks,
  samples: rankSamples,
  import: rankImport,
  tellCoverage: tellRankings,
  reach: reachOf,
};
