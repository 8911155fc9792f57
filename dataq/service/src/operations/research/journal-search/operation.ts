import { SearchSource } from "../../../sources/search-source.ts";
import { numbered, type OperationParts } from "../../operation.ts";
import { journalDocument } from "./corpus.ts";
import { journalIdentities } from "./identity.ts";
import { journalImport } from "./import.ts";
import { journalCount, sampleJournal } from "./sample.ts";
import { journals } from "./source.ts";

export const journalSearch: OperationParts = {
  document: journalDocument,
  source: (index, corpus) => new SearchSource(index, corpus, journals),
  sample: numbered(journalCount, (number) => journalDocument(sampleJournal(number))),
  samples: ["学报", "研究", "材料科学"].map((query) => ({ query })),
  import: journalImport,
  identities: journalIdentities,
  unit: { en: "journal", zh: "种期刊" },
};
