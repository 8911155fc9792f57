import { looksLikeIssn, readIssn, warning } from "@dataq/contract";
import { otherForms } from "../../../search/analysis/english.ts";
import { wordsOnly } from "../../../search/text-search.ts";
import type { ReadQuestion, Searching } from "../../../sources/search-source.ts";
import { cnTerm, issnTerm, type JournalRecord, nameTerm } from "./corpus.ts";

/** Journals by ISSN, CN number or name. */
export const journals: Searching = {
  read: (params) => {
    const text = params["query"] ?? "";
    const issn = readIssn(text);
    if (issn !== undefined) return byNumber(issnTerm(issn));
    if (/^CN\s*\d{2}-\d{4}(?:\/[A-Z0-9]+)?$/i.test(text)) return byNumber(cnTerm(text));
    return {
      question: { ...wordsOnly(text), exact: namesLike(text).map(nameTerm) },
      warnings: looksLikeIssn(text) ? [warning("issn_check")] : [],
    };
  },
  text: (body) => {
    const { name, name_en } = body as JournalRecord;
    return name_en === null ? name : `${name} ${name_en}`;
  },
};

function byNumber(term: string): ReadQuestion {
  return {
    question: { ...wordsOnly(""), filters: [{ term }] },
    warnings: [],
    notHeld: warning("journal_not_held"),
  };
}

/** The name, and its forms with the last word in the singular or plural. */
function namesLike(name: string): string[] {
  const last = /[a-z]+$/i.exec(name.trim())?.[0] ?? "";
  const before = name.trim().slice(0, name.trim().length - last.length);
  return [name, ...otherForms(last.toLowerCase()).map((form) => before + form)];
}
