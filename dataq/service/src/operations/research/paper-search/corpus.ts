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
      ...[readArxivId(record.id)].filter((id) => id !== undefined).map(arxivTerm),
    ],
    date: record.publication_date,
    body: record,
    meaning: `${record.title_en ?? record.title}. ${record.abstract ?? record.keywords.join(" ")}`,
  };
}

export function doiTerm(doi: string): string {
  return `d:${doi
    .toLowerCase()
    .replace(/^(?:https?:\/\/)?(?:dx\.)?doi\.org\//, "")
    .replace(/^doi:\s*/, "")}`;
}

/**
 * Reads 1801.05906, arXiv:cs/9902021v2 or https://arxiv.org/abs/1801.05906 and returns the number without its
 * version.
 */
export function readArxivId(text: string): string | undefined {
  const found = arxivId.exec(text.trim());
  if (found === null) return undefined;
  const [, month, decimals, archive] = found;
  if (month === undefined) return archive;
  // Some packs stored the number as a fraction, so it lacks its last zeros or has additional digits:
  // 1908.0910399999998.
  const digits = Number(month) >= 1501 ? 5 : 4;
  return `${month}.${Number(`0.${decimals}`).toFixed(digits).slice(2)}`;
}

const arxivId =
  /^(?:https?:\/\/)?(?:www\.)?(?:arxiv\.org\/(?:abs|pdf)\/|arxiv\s*[:：]?\s*)?(?:(\d{4})\.(\d{3,16})|([a-z-]+(?:\.[a-z]{2})?\/\d{7}))(?:v\d+)?(?:\.pdf)?$/i;

export function arxivTerm(id: string): string {
  return `x:${id.toLowerCase()}`;
}
