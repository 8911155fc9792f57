import type { Params } from "@dataq/contract";
import type { PostingIndex } from "../../../search/postings/posting-index.ts";
import type { ReadQuestion, Searching } from "../../../sources/search-source.ts";
import type { JudgmentRecord } from "./corpus.ts";
import { readCaseQuestion } from "./question.ts";

/** Judgments by words and fields. */
export const cases: Searching = {
  read: (params: Params, index: PostingIndex, corpus: string): Promise<ReadQuestion> =>
    readCaseQuestion(params["query"] ?? "", (terms) => index.count(corpus, terms)),
  text: (body) => (body as JudgmentRecord).full_text,
  prefer: "本院认为",
};
