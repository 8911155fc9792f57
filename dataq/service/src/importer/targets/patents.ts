import { type PatentRecord, patentDocument, patentsCorpus } from "../../search/corpora/patents.ts";
import { ownForm } from "../own-form.ts";
import type { Target } from "../target.ts";

/** Patents in our own form. */
export const patents: Target = {
  name: "research_patent_search",
  corpus: patentsCorpus,
  map: ownForm("research_patent_search", (record) => record["patent_id"]),
  document: (record) => patentDocument(record as unknown as PatentRecord),
};
