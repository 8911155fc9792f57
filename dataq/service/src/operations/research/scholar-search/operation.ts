import { scholarCount } from "../../../sample/scholars.ts";
import { SearchSource } from "../../../sources/search-source.ts";
import type { OperationParts } from "../../operation.ts";
import { paperCount, samplePaper } from "../paper-search/sample.ts";
import { scholarDocument } from "./corpus.ts";
import { scholarIdentities } from "./identity.ts";
import { scholarImport } from "./import.ts";
import { sampleScholars } from "./sample.ts";
import { scholars } from "./source.ts";

export const scholarSearch: OperationParts = {
  document: scholarDocument,
  source: (index, corpus) => new SearchSource(index, corpus, scholars),
  sample: {
    count: scholarCount,
    documents: () =>
      sampleScholars(Array.from({ length: paperCount }, (_, number) => samplePaper(number))).map(
        scholarDocument,
      ),
  },
  samples: ["陈明"].map((name) => ({ name })),
  import: scholarImport,
  identities: scholarIdentities,
  unit: { en: "researcher", zh: "位学者" },
};
