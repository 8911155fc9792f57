import { type Params, readPatentNumber, warning } from "@dataq/contract";
import { rangeText } from "../../../search/date-range.ts";
import type { SearchIndex } from "../../../search/search-index.ts";
import { wordsOnly } from "../../../search/text-search.ts";
import type { ReadQuestion, Searching } from "../../../sources/search-source.ts";
import { daysOf, isWithoutRecords } from "../published.ts";
import { applicantTerm, type PatentRecord, patentNumberTerm } from "./corpus.ts";

/** Patents by number, applicant or words. */
export const patents: Searching = {
  read,
  text: (body) => {
    const { title, abstract } = body as PatentRecord;
    return abstract ?? title;
  },
};

function read(params: Params, index: SearchIndex, corpus: string): ReadQuestion {
  const { query = "", applicant } = params;
  const number = readPatentNumber(query);
  const wrongCheck = number !== undefined && "wrongCheck" in number ? number.wrongCheck : undefined;
  const term =
    number === undefined || "wrongCheck" in number
      ? undefined
      : patentNumberTerm("application" in number ? number.application : number.publication);
  const dates = daysOf(params);
  const isInWords = term === undefined && query !== "";
  return {
    question: {
      ...wordsOnly(isInWords ? query : ""),
      ...(isInWords && { exact: [applicantTerm(query)] }),
      filters: [term, applicant && applicantTerm(applicant)]
        .filter((each) => each !== undefined)
        .map((each) => ({ term: each })),
      ...(dates !== undefined && { dates }),
    },
    warnings: wrongCheck === undefined ? [] : [warning("patent_check", { check: wrongCheck })],
    async notHeld() {
      if (term !== undefined && (await index.count(corpus, [term])) === 0)
        return [warning("patent_not_held")];
      if (dates === undefined || !(await isWithoutRecords(index, corpus, dates))) return [];
      return [warning("time_without_patents", { time: rangeText(dates) })];
    },
  };
}
