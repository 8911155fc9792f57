import type { IndexDocument } from "../../../search/search-index.ts";

export interface PatentRecord {
  readonly id: string;
  readonly application_no: string | null;
  readonly publication_no: string | null;
  readonly grant_no: string | null;
  readonly title: string;
  readonly abstract: string | null;
  readonly applicants: readonly string[];
  readonly inventors: readonly string[];
  readonly ipc: readonly string[];
  readonly application_date: string | null;
}

export const patentsCorpus = "research_patent_search";

export function patentDocument(record: PatentRecord): IndexDocument {
  const numbers = [record.application_no, record.publication_no, record.grant_no];
  return {
    id: record.id,
    texts: [
      { text: record.title, weight: 3 },
      { text: [...record.applicants, ...record.inventors].join(" "), weight: 2 },
      { text: record.abstract ?? "", weight: 1 },
    ],
    terms: [
      ...numbers.filter((number) => number !== null).map(patentNumberTerm),
      ...record.applicants.map(applicantTerm),
      ...record.ipc.map((code) => `x:${code.toLowerCase()}`),
    ],
    date: record.application_date,
    body: record,
  };
}

export function patentNumberTerm(number: string): string {
  return `n:${number
    .normalize("NFKC")
    .toUpperCase()
    .replace(/^(?:ZL|CN)(?=\d{12})/, "")
    .replace(/[\s]/g, "")}`;
}

export function applicantTerm(name: string): string {
  return `o:${name.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim()}`;
}
