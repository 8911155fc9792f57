import { type Params, type WarningCode, warning } from "@dataq/contract";
import { rangeText } from "../../../search/date-range.ts";
import type { SearchIndex } from "../../../search/search-index.ts";
import { type TextQuestion, wordsOnly } from "../../../search/text-search.ts";
import type { ReadQuestion, Searching } from "../../../sources/search-source.ts";
import { personTerm } from "../person-term.ts";
import { daysOf, isWithoutRecords } from "../published.ts";
import { arxivTerm, doiTerm, type PaperRecord, readArxivId } from "./corpus.ts";

/** Papers by words, author or DOI. */
export const papers: Searching = {
  read,
  text: (body) => {
    const { title, abstract } = body as PaperRecord;
    return abstract ?? title;
  },
};

function read(params: Params, index: SearchIndex, corpus: string): ReadQuestion {
  const { query = "", author } = params;
  const { number, ...asked } = readQuery(query);
  const dates = daysOf(params);
  const authors = author === undefined ? [] : [{ term: personTerm(author) }];
  return {
    question: {
      ...asked,
      filters: [...(number === undefined ? [] : [{ term: number.term }]), ...authors],
      ...(dates !== undefined && { dates }),
    },
    warnings: [],
    async notHeld() {
      if (number !== undefined && (await index.count(corpus, [number.term])) === 0)
        return [warning(number.notHeld)];
      if (dates === undefined || !(await isWithoutRecords(index, corpus, dates))) return [];
      return [warning("time_without_papers", { time: rangeText(dates) })];
    },
  };
}

interface PaperNumber {
  readonly term: string;
  readonly notHeld: Extract<WarningCode, "doi_not_held" | "arxiv_not_held">;
}

function readQuery(text: string): TextQuestion & { readonly number?: PaperNumber } {
  const doi = /^(?:https?:\/\/)?(?:(?:dx\.)?doi\.org\/|doi:\s*)?(10\.\d{4,9}\/\S+)$/i.exec(text)?.[1];
  if (doi !== undefined) return { ...wordsOnly(""), number: { term: doiTerm(doi), notHeld: "doi_not_held" } };
  const arxiv = readArxivId(text);
  if (arxiv !== undefined)
    return { ...wordsOnly(""), number: { term: arxivTerm(arxiv), notHeld: "arxiv_not_held" } };
  return { ...wordsOnly(text), ...(text !== "" && { exact: [personTerm(text)] }) };
}
