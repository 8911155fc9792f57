import type { IndexDocument } from "../../../search/search-index.ts";
import { personTerm } from "../person-term.ts";

export interface ScholarRecord {
  readonly id: string;
  readonly name: string;
  readonly name_en: string | null;
  readonly affiliations: readonly { readonly name: string }[];
  readonly research_areas: readonly string[];
  readonly orcid: string | null;
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
    terms: [
      personTerm(record.name),
      ...(record.name_en === null ? [] : [personTerm(record.name_en)]),
      ...[orcidTerm(record.orcid ?? "")].filter((term) => term !== undefined),
    ],
    date: null,
    body: record,
  };
}

/** The term of an ORCID iD, alone or in its address; undefined for a text with a wrong check character. */
export function orcidTerm(text: string): string | undefined {
  const [, id] = /^(?:https?:\/\/orcid\.org\/)?((?:\d{4}-){3}\d{3}[\dX])$/i.exec(text.trim()) ?? [];
  if (id === undefined) return undefined;
  const digits = id.toUpperCase().replaceAll("-", "");
  // ISO 7064 MOD 11-2
  const sum = [...digits.slice(0, 15)].reduce((total, digit) => ((total + Number(digit)) * 2) % 11, 0);
  const check = (12 - sum) % 11;
  return digits[15] === (check === 10 ? "X" : String(check)) ? `o:${id.toUpperCase()}` : undefined;
}
