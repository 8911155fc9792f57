import type { IndexDocument } from "../../../search/search-index.ts";
import { personTerm } from "../person-term.ts";

export interface PaperRecord {
  readonly id: string;
  readonly doi: string | null;
  readonly title: string;
  readonly title_en: string | null;
  readonly authors: readonly { readonly name: string }[];
  readonly abstract: string | null;
  readonly keywords: readonly string[];
  readonly publication_date: string | null;
}

export const papersCorpus = "research_paper_search";

export function paperDocument(record: PaperRecord): IndexDocument {
  return {
    id: record.id,
    texts: [
      { text: `${record.title} ${record.title_en ?? ""}`, weight: 3 },
      { text: record.keywords.join(" "), weight: 2 },
      { text: record.authors.map(({ name }) => name).join(" "), weight: 2 },
      { text: record.abstract ?? "", weight: 1 },
    ],
    terms: [
      ...record.authors.map(({ name }) => personTerm(name)),
      ...(record.doi === null ? [] : [doiTerm(record.doi)]),
    ],
    date: record.publication_date,
    body: record,
  };
}

export function doiTerm(doi: string): string {
  return `d:${doi
    .toLowerCase()
    .replace(/^(?:https?:\/\/)?(?:dx\.)?doi\.org\//, "")
    .replace(/^doi:\s*/, "")}`;
}
