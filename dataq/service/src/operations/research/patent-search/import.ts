import { ownForm } from "../../../importer/own-form.ts";
import type { RowTarget } from "../../../importer/target.ts";
import { type PatentRecord, patentDocument, patentsCorpus } from "./corpus.ts";

/** Patents in our own form. */
export const patentImport: RowTarget = {
  name: "research_patent_search",
  corpus: patentsCorpus,
  map: ownForm("research_patent_search", (record) => record["patent_id"]),
  document: (record) => patentDocument(record as unknown as PatentRecord),
};
