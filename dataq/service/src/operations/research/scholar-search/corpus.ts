import type { IndexDocument } from "../../../search/search-index.ts";
import { personTerm } from "../person-term.ts";

export interface ScholarRecord {
  readonly id: string;
  readonly name: string;
  readonly name_en: string | null;
  readonly affiliations: readonly { readonly name: string }[];
  readonly research_areas: readonly string[];
}

export const scholarsCorpus = "research_scholar_search";

export function scholarDocument(record: ScholarRecord): IndexDocument {
  return {
    id: record.id,
    texts: [
      { text: `${record.name} ${record.name_en ?? ""}`, weight: 3 },
      { text: record.affiliations.map(({ name }) => name).join(" "), weight: 1 },
      { text: record.research_areas.join(" "), weight: 1 },
    ],
    terms: [personTerm(record.name), ...(record.name_en === null ? [] : [personTerm(record.name_en)])],
    date: null,
    body: record,
  };
}
