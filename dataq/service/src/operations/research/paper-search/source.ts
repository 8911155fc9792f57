import { wordsOnly } from "../../../search/text-search.ts";
import type { Searching } from "../../../sources/search-source.ts";
import { personTerm } from "../person-term.ts";
import { arxivTerm, doiTerm, type PaperRecord, readArxivId } from "./corpus.ts";

/** Papers by words, author or DOI. */
export const papers: Searching = {
  read: (params) => {
    const text = params["query"] ?? "";
    const doi = /^(?:https?:\/\/)?(?:(?:dx\.)?doi\.org\/|doi:\s*)?(10\.\d{4,9}\/\S+)$/i.exec(text)?.[1];
    const question = wordsOnly(doi === undefined ? text : "");
    if (doi !== undefined) {
      return {
        question: { ...question, filters: [{ term: doiTerm(doi) }] },
        warnings: [],
        notHeld: "This service has no paper with this DOI.",
      };
    }
    const arxiv = readArxivId(text);
    if (arxiv !== undefined)
      return {
        question: { ...wordsOnly(""), filters: [{ term: arxivTerm(arxiv) }] },
        warnings: [],
        notHeld: "This service has no paper with this arXiv number.",
      };
    return { question: { ...question, exact: [personTerm(text)] }, warnings: [] };
  },
  text: (body) => {
    const { title, abstract } = body as PaperRecord;
    return abstract ?? title;
  },
};
