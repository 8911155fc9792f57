import { readPatentNumber } from "@dataq/contract";
import { wordsOnly } from "../../../search/text-search.ts";
import type { Searching } from "../../../sources/search-source.ts";
import { applicantTerm, type PatentRecord, patentNumberTerm } from "./corpus.ts";

/** Patents by number, applicant or words. */
export const patents: Searching = {
  read: (params) => {
    const text = params["query"] ?? "";
    const number = readPatentNumber(text);
    if (number !== undefined && !("wrongCheck" in number)) {
      const term = patentNumberTerm("application" in number ? number.application : number.publication);
      return {
        question: { ...wordsOnly(""), filters: [{ term }] },
        warnings: [],
        notHeld: "This service has no patent with this number.",
      };
    }
    return {
      question: { ...wordsOnly(text), exact: [applicantTerm(text)] },
      warnings:
        number === undefined
          ? []
          : [`The application number's check character should be ${number.wrongCheck}; searched as words.`],
    };
  },
  text: (body) => {
    const { title, abstract } = body as PatentRecord;
    return abstract ?? title;
  },
};
