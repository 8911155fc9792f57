import type { Provenance } from "@dataq/contract";
import type { IndexDocument } from "../../../search/search-index.ts";
import type { LawFacts, LawTimeline } from "../laws/corpus.ts";

/** A version of a law in the catalogue. */
export interface StoredLaw extends LawFacts {
  readonly article_count: number;
  /** The law with all its versions, of which this is the one at `place`. */
  readonly timeline?: LawTimeline;
  readonly place?: number;
  readonly source: Provenance;
}

export const lawEntriesCorpus = "legal_law_catalog";
/** A term that every entry has, so that all can be listed. */
export const everyLaw = "k:law";

export function lawEntryDocument(law: StoredLaw): IndexDocument {
  return {
    id: law.law_id,
    texts: [{ text: law.law_name, weight: 1 }],
    terms: [everyLaw],
    date: law.version_date,
    body: law,
  };
}
