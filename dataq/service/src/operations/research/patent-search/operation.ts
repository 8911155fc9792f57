import { reachOf } from "../../../sources/reach.ts";
import { SearchSource } from "../../../sources/search-source.ts";
import { numbered, type OperationParts } from "../../operation.ts";
import { patentDocument } from "./corpus.ts";
import { patentIdentities } from "./identity.ts";
import { patentImport } from "./import.ts";
import { patentCount, samplePatent } from "./sample.ts";
import { patents } from "./source.ts";

export const patentSearch: OperationParts = {
  document: patentDocument,
  source: (index, corpus) => new SearchSource(index, corpus, patents),
  sample: numbered(patentCount, (number) => patentDocument(samplePatent(number))),
  samples: ["电池", "机器人", "滚动轴承"].map((query) => ({ query })),
  import: patentImport,
  unit: { en: "patent", zh: "件专利" },
  reach: reachOf,
  identities: patentIdentities,
};
