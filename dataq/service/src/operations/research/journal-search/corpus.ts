import type { IndexDocument } from "../../../search/search-index.ts";

export interface JournalRecord {
  readonly id: string;
  readonly name: string;
  readonly name_en: string | null;
  readonly issn: string | null;
  readonly eissn: string | null;
  readonly cn_no: string | null;
  readonly publisher: string | null;
  readonly sponsor: string | null;
  readonly subjects: readonly string[];
}

export const journalsCorpus = "research_journal_search";

export function journalDocument(record: JournalRecord): IndexDocument {
  const numbers = [record.issn, record.eissn].filter((number) => number !== null);
  return {
    id: record.id,
    texts: [
      { text: `${record.name} ${record.name_en ?? ""}`, weight: 4 },
      { text: record.subjects.join(" "), weight: 1 },
      { text: `${record.publisher ?? ""} ${record.sponsor ?? ""}`, weight: 1 },
    ],
    terms: [
      ...numbers.map(issnTerm),
      ...(record.cn_no === null ? [] : [cnTerm(record.cn_no)]),
      nameTerm(record.name),
      ...(record.name_en === null ? [] : [nameTerm(record.name_en)]),
    ],
    date: null,
    body: record,
  };
}

export function issnTerm(issn: string): string {
  return `n:${issn.toUpperCase()}`;
}

/** The term of a CN number. CN11-1234 also finds CN11-1234/TP. */
export function cnTerm(number: string): string {
  return `n:${number.toUpperCase().replace(/\s/g, "").replace(/\/.*$/, "")}`;
}

/**
 * The term of a journal's full name. A journal with exactly this name ranks above those whose names contain
 * it.
 */
export function nameTerm(name: string): string {
  return `N:${name.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim().slice(0, 200)}`;
}
