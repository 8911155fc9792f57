import { reachOf } from "../../../sources/reach.ts";
import { SearchSource } from "../../../sources/search-source.ts";
import { numbered, type OperationParts } from "../../operation.ts";
import { paperDocument } from "./corpus.ts";
import { paperIdentities } from "./identity.ts";
import { paperImport } from "./import.ts";
import { paperCount, samplePaper } from "./sample.ts";
import { papers } from "./source.ts";

export const paperSearch: OperationParts = {
  document: paperDocument,
  source: (index, corpus, meaning) => new SearchSource(index, corpus, papers, { meaning }),
  sample: numbered(paperCount, (number) => paperDocument(samplePaper(number))),
  samples: ["神经网络", "大语言模型", "锂离子电池", "个人信息保护", "水稻"].map((query) => ({ query })),
  import: paperImport,
  identities: paperIdentities,
  unit: { en: "paper", zh: "篇论文" },
  reach: reachOf,
};
